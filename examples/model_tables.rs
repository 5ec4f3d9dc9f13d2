//! What performance models say, beside what a thesis on them prints.
//!
//! `cargo run --release --example model_tables` computes the tables of C. Y. González García, *Modelo de estimación
//! de rendimiento para arquitecturas paralelas heterogéneas*, 2012, by the formulas of the models: Hong and Kim,
//! Mukherjee and Kothapalli, Nugteren, and the thesis' own. gpu_model::thesis says where tables and text follow
//! different formulas, and lists the cells that follow none. No GPU is needed.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use gpu_examples::exit_code;
use gpu_examples::table::Table;
use gpu_model::thesis::{self, Cell};

/// The tables of a thesis on performance models, computed by the models' formulas
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of tables, one for each cell
    #[arg(long)]
    json: bool,
    /// Only these tables: `B.1` to `B.18`, `9.1`, `9.2`, `section 5.3`, …
    #[arg(long, value_delimiter = ',')]
    table: Vec<String>,
    /// Only this model: `hong_kim`, `nugteren`, …
    #[arg(long)]
    model: Option<String>,
    /// Only cells that are off by more than 1 %
    #[arg(long)]
    exceptions: bool,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let all = thesis::cells()?;
    let mut tables: Vec<&str> = all.iter().map(|cell| cell.table.as_str()).collect();
    tables.dedup();
    if let Some(name) = options.table.iter().find(|name| !tables.contains(&name.as_str())) {
        return Err(format!("there is no table `{name}`; there are {}", tables.join(", ")).into());
    }
    if let Some(model) = options.model.as_ref().filter(|&model| all.iter().all(|cell| cell.model != *model)) {
        let mut models: Vec<&str> = all.iter().map(|cell| cell.model.as_str()).collect();
        models.sort_unstable();
        models.dedup();
        return Err(format!("there is no model `{model}`; there are {}", models.join(", ")).into());
    }
    let wanted = |cell: &&Cell| {
        (options.table.is_empty() || options.table.contains(&cell.table))
            && options.model.as_ref().is_none_or(|model| cell.model == *model)
            && !(options.exceptions && cell.agrees())
    };
    let cells: Vec<&Cell> = all.iter().filter(wanted).collect();
    if options.json {
        cells.iter().try_for_each(|cell| serde_json::to_string(cell).map(|line| println!("{line}")))?;
        return Ok(());
    }
    for name in &tables {
        let of_table: Vec<&Cell> = cells.iter().copied().filter(|cell| cell.table == *name).collect();
        if !of_table.is_empty() {
            println!("{name}: {}\n\n{}", thesis::about(name)?.unwrap_or_default(), details(&of_table));
        }
    }
    println!("{}", summary(&tables, &cells));
    if options.exceptions {
        println!("gpu-model's docs/thesis.md says why.");
    }
    Ok(())
}

fn details(cells: &[&Cell]) -> Table {
    let mut table = Table::new(["row", "model", "printed", "computed", "off by %", "by the text", "unit"]);
    for cell in cells {
        table.row([
            cell.row.clone(),
            cell.model.clone(),
            number(cell.printed),
            number(cell.computed),
            format!("{:.3}", 100.0 * cell.deviation()),
            cell.by_text.map_or_else(String::new, number),
            cell.unit.clone(),
        ]);
    }
    table
}

/// Six decimals, as the tables have them; powers of ten where that would show nothing.
fn number(value: f64) -> String {
    if value.abs() >= 1e-3 { format!("{value:.6}") } else { format!("{value:.4e}") }
}

fn summary(tables: &[&str], cells: &[&Cell]) -> Table {
    let mut table = Table::new(["table", "cells", "within 1 %", "others"]);
    let counts = |of_table: &dyn Fn(&Cell) -> bool| {
        let of_table: Vec<_> = cells.iter().filter(|cell| of_table(cell)).collect();
        let agree = of_table.iter().filter(|cell| cell.agrees()).count();
        [of_table.len(), agree, of_table.len() - agree].map(|count| count.to_string())
    };
    for name in tables {
        let [all, agree, others] = counts(&|cell| cell.table == *name);
        if all != "0" {
            table.row([(*name).to_owned(), all, agree, others]);
        }
    }
    let [all, agree, others] = counts(&|_| true);
    table.row(["all".to_owned(), all, agree, others]);
    table
}
