//! Study split between several processes: each runs its part of the trials.

use crate::artifact::{Artifact, Outcome};
use crate::files::digest;
use crate::inputs::paths::stem_of;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A part of the trials. The part of a trial depends only on its name, so it does not change when other trials are
/// added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Number of this part, from 1.
    pub part: usize,
    /// Number of parts.
    pub of: usize,
}

impl Shard {
    /// Whether a trial is in this part.
    pub fn has(&self, trial: &str) -> bool {
        let number = u64::from_str_radix(&digest(trial.as_bytes())[..16], 16).unwrap_or(0);
        (number % self.of.max(1) as u64) as usize + 1 == self.part
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((part, of)) if (1..=of).contains(&part) => Ok(Shard { part, of }),
            _ => Err("expected PART/PARTS, such as 1/8 for the first of eight".into()),
        }
    }
}

/// Slurm script that runs a pipeline as a job array.
#[derive(Clone, Debug)]
pub struct ArrayScript {
    /// Output file, next to the pipeline file.
    pub file: PathBuf,
    /// The script.
    pub text: String,
}

impl ArrayScript {
    /// For a pipeline file, with a number of parts. Jobs begin in the folder from which the script is submitted: the script names the
    /// file by its `absolute` path.
    pub fn new(pipeline: &Path, absolute: &Path, parts: usize) -> Self {
        let name = stem_of(pipeline, "pipeline");
        let quoted = absolute.display().to_string().replace('\'', r"'\''");
        let job: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let text = format!(
            "#!/bin/sh\n\
             # Runs a pipeline as an array of {parts} jobs. A stopped job continues from its last step when it is run again.\n\
             #SBATCH --job-name={job}\n\
             #SBATCH --array=1-{parts}\n\
             #SBATCH --cpus-per-task=4\n\
             #SBATCH --time=01:00:00\n\
             exec soleus pipeline '{quoted}' --shard \"$SLURM_ARRAY_TASK_ID/{parts}\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\"\n"
        );
        ArrayScript { file: pipeline.with_extension("slurm"), text }
    }
}

impl Outcome for ArrayScript {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        vec![Artifact::text(&self.file, self.text.as_str())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_every_trial_is_in_one_part() {
        for of in 1..20 {
            for trial in 0..50 {
                let name = format!("walk{trial}");
                let parts = (1..=of).filter(|&part| Shard { part, of }.has(&name));
                assert_eq!(parts.count(), 1, "{name} of {of}");
            }
        }
    }

    #[test]
    fn analytic_parts_are_read() {
        assert_eq!("3/8".parse(), Ok(Shard { part: 3, of: 8 }));
        for wrong in ["0/8", "9/8", "3", "3/", "/8", "a/b", "1/0", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn issue_python_names_with_quotes_stay_in_their_quotes() {
        let script = ArrayScript::new(Path::new("a b/it's.toml"), Path::new("/data/a b/it's.toml"), 3);
        assert_eq!(script.file, Path::new("a b/it's.slurm"));
        assert!(script.text.contains(r"'/data/a b/it'\''s.toml' --shard"), "{}", script.text);
        assert!(script.text.contains("--job-name=it_s\n") && script.text.contains("--array=1-3\n"));
    }
}
