"""What a claim may ask of a model: numbers from `knee.fluid` or of a closed form, by name.

Each takes arguments that a ledger file gives and returns its figures by name. A file a paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from knee.ledger.models import jain2007, paganini2003, qazi2010, xia2008

MODELS: Mapping[str, Callable[..., Mapping[str, float]]] = {
    model.__name__: model
    for model in (
        xia2008.miaimd_stability,
        xia2008.miaimd_equilibrium,
        xia2008.miaimd_gamma,
        xia2008.miaimd_max_min,
        qazi2010.mlcp_rtts,
        qazi2010.bmcc_epochs,
        qazi2010.bmcc_startup,
        qazi2010.bmcc_detection,
        jain2007.processor_sharing,
        jain2007.rcp_bounds,
        jain2007.rcp_rest,
        paganini2003.scalable_stability,
        paganini2003.scalable_decay,
        paganini2003.scalable_alone,
        paganini2003.scalable_eigenlocus,
        paganini2003.scalable_nyquist,
        paganini2003.scalable_nabla,
        paganini2003.scalable_encirclements,
        paganini2003.scalable_hull,
        paganini2003.scalable_eta,
        paganini2003.scalable_rest,
        paganini2003.scalable_transient,
        paganini2003.scalable_latecomers,
        paganini2003.price_marks,
    )
}
"""Models by the name that ledger files use."""
