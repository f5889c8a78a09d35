"""The papers' claims: read, run, answered."""

from knee.ledger.answers import Answer, Finding, Point, Verdict, answer, number
from knee.ledger.evidence import Evidence, gather
from knee.ledger.format import Claim, LedgerError, Paper, claims, find, papers

__all__ = [
    "Answer",
    "Claim",
    "Evidence",
    "Finding",
    "LedgerError",
    "Paper",
    "Point",
    "Verdict",
    "answer",
    "claims",
    "find",
    "gather",
    "number",
    "papers",
]
