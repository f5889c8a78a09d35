//! What there is: laws, codecs, quantities, and the schema of a scenario.

/// The JSON Schema of a scenario.
pub fn schema() -> String {
    "{}".to_owned()
}

/// Laws with their parameters, codecs, and quantities that probes sample.
pub fn catalogue() -> serde_json::Value {
    serde_json::json!({})
}
