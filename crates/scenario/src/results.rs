//! The columns that a run yields.

use arrow_array::RecordBatch;

/// The columns that a run yields; names are stable.
#[derive(Clone, Debug)]
pub struct Results {
    /// A row a variant, seed and measured link.
    pub summary: RecordBatch,
    /// A row a flow.
    pub flows: RecordBatch,
    /// Samples of the probes, long form.
    pub series: RecordBatch,
}
