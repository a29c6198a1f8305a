//! The results as table rows for other programs: one for each step of each trial, including failed steps.

use super::judgement::{Evidence, NUMBERS, numbers};
use super::read_model;
use crate::error::Error;
use crate::files::Files;
use crate::pipeline::{PipelineFile, StepOutcome};
use soleus_io::table::parquet::{Column, write_columns};
use std::path::Path;

/// A Parquet file with columns `trial`, `step`, `result` (done, failed, not run), `reason`, and the quality measures,
/// each in the row of its step. `trial` is empty for steps of the whole pipeline.
pub fn rows(
    files: &dyn Files,
    pipeline: &PipelineFile,
    results: &Path,
    model_file: Option<&Path>,
    outcomes: &[StepOutcome],
) -> Vec<u8> {
    let model = model_file.and_then(|m| read_model(files, m));
    let mut words: [Vec<String>; 4] = Default::default();
    let mut measured: Vec<Vec<Option<f64>>> = vec![Vec::new(); NUMBERS.len()];
    let mut row = |trial: &str, step: &str, result: Result<&str, String>, found: &[Option<f64>]| {
        let (result, reason) = match result {
            Ok(word) => (word, String::new()),
            Err(reason) => ("failed", reason),
        };
        for (column, word) in words.iter_mut().zip([trial, step, result, &reason]) {
            column.push(word.to_string());
        }
        for ((column, (_, of)), number) in measured.iter_mut().zip(NUMBERS).zip(found) {
            column.push(number.filter(|_| of == step));
        }
    };
    let none = [None; NUMBERS.len()];
    fn result(o: &StepOutcome) -> Result<&'static str, String> {
        o.result.as_ref().map(|_| "done").map_err(Error::to_string)
    }
    for o in outcomes.iter().filter(|o| o.trial.is_none()) {
        row("", &o.step, result(o), &none);
    }
    for t in &pipeline.trials {
        let steps: Vec<_> = outcomes.iter().filter(|o| o.trial.as_ref() == Some(&t.name)).collect();
        if steps.is_empty() {
            row(&t.name, "", Ok("not run"), &none);
            continue;
        }
        let found =
            numbers(&Evidence::read(files, t, &results.join(&t.name), model.as_ref()), model.as_ref());
        for o in steps {
            row(&t.name, o.name(), result(o), if o.result.is_ok() { &found } else { &none });
        }
    }
    let named = ["trial", "step", "result", "reason"].into_iter().zip(words.iter().map(|w| Column::Words(w)));
    let numbers = NUMBERS.iter().map(|n| n.0).zip(measured.iter().map(|m| Column::Measured(m)));
    write_columns(&named.chain(numbers).collect::<Vec<_>>(), &[("version", env!("CARGO_PKG_VERSION"))])
}
