//! Runs a scenario file and prints its summary: `cargo run --example run -- FILE [KEY=VALUE ..]`.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use knee_scenario::{Control, Format, Scenario, Source, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("which file?")?;
    let text = std::fs::read_to_string(&name)?;
    let overrides: Vec<(String, String)> = arguments
        .filter_map(|setting| setting.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())))
        .collect();
    let source = Source { text: &text, name: &name, format: Format::Toml, overrides: &overrides };
    let scenario = match Scenario::parse(&source) {
        Ok(scenario) => scenario,
        Err(problem) => return Err(problem.to_string().into()),
    };
    let results = run(&scenario, &Control::default())?;
    let summary = &results.summary;
    let schema = summary.schema();
    for row in 0..summary.num_rows() {
        let text = |column| summary.column(column).as_string::<i32>().value(row).to_owned();
        print!("{} {}", text(0), text(2));
        for (index, field) in schema.fields().iter().enumerate().skip(3) {
            if let Some(values) = summary.column(index).as_primitive_opt::<Float64Type>() {
                print!(" {}={:.4}", field.name(), values.value(row));
            }
        }
        println!();
    }
    println!("{} flows, {} samples", results.flows.num_rows(), results.series.num_rows());
    Ok(())
}
