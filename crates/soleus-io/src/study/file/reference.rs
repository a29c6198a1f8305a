//! Reference of study files, generated from the lists that the reader uses.

use super::schema::{self, Class, Field};
use std::fmt::Write;

/// All fields with unit and default, as Markdown; the guide contains this text.
pub fn reference() -> String {
    let mut s = String::new();
    for (title, fields) in [
        ("The study itself", schema::STUDY),
        ("`[time]`", schema::TIME),
        ("`[defaults]`", schema::DEFAULTS),
        ("`[[states]]` and `[[controls]]`", schema::VARIABLE),
        ("`[[parameters]]`", schema::PARAMETER),
        ("`[[forces]]`", schema::FORCE),
        ("`[[prescribed]]`", schema::PRESCRIBED),
        ("`[solver]`", schema::SOLVER),
        ("`[refine]`", schema::REFINE),
        ("`[guess]`", schema::GUESS),
        ("`[help]`", schema::HELP),
        ("`[starts]`", schema::STARTS),
        ("`[continuation]`", schema::CONTINUATION),
        ("`[output]`", schema::OUTPUT_FILES),
        ("`[[phases]]`", schema::PHASE),
        ("`[[links]]`", schema::LINK),
        ("`[[goals]]`", schema::GOAL),
    ] {
        let _ = write!(s, "### {title}\n\n{}", fields_table(fields));
    }
    s.push_str(&classes_table("type of goal", schema::GOALS));
    let _ = write!(s, "### `[[path_constraints]]`\n\n{}", fields_table(schema::CONSTRAINT));
    s.push_str(&classes_table("type of path constraint", schema::CONSTRAINTS));
    let _ = write!(s, "### `[[operators]]`\n\n{}", fields_table(schema::OPERATOR));
    s.push_str(&classes_table("type of operator", schema::OPERATORS));
    let _ =
        write!(s, "### `reference`: a file and how it is processed\n\n{}", fields_table(schema::REFERENCE));
    s.push_str("### Functions of time\n\n");
    s.push_str(&classes_table("type of function", schema::FUNCTIONS));
    s
}

/// Bars would end the cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn fields_table(fields: &[Field]) -> String {
    let mut s = String::from("| field | type | unit | default | meaning |\n|---|---|---|---|---|\n");
    for f in fields {
        let _ = writeln!(
            s,
            "| `{}` | {} | {} | {} | {} |",
            f.name,
            f.kind.words(),
            f.unit,
            f.default,
            cell(f.help)
        );
    }
    s.push('\n');
    s
}

/// Types with their own fields, one line each.
fn classes_table(head: &str, classes: &[Class]) -> String {
    let mut s = format!(
        "| {head} | in OpenSim | what it does | field (type; unit; default): meaning |\n|---|---|---|---|\n"
    );
    for c in classes {
        let fields: Vec<String> = c.fields.iter().map(one_field).collect();
        let class = if c.class.is_empty() { String::new() } else { format!("`{}`", c.class) };
        let _ = writeln!(s, "| `{}` | {class} | {} | {} |", c.name, cell(c.help), fields.join(". "));
    }
    s.push('\n');
    s
}

fn one_field(f: &Field) -> String {
    let unit = if f.unit.is_empty() { String::new() } else { format!("; {}", f.unit) };
    format!("`{}` ({}{unit}; {}): {}", f.name, f.kind.words(), f.default, cell(f.help))
}
