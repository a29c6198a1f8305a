//! Flags, forms and help agree with one another.

use super::*;

/// Help of a flag, or of a word without one by its place.
fn help_of(command: &clap::Command, verb: &str, flag: &str, place: usize) -> Option<String> {
    let verb = command.find_subcommand(verb)?;
    let found = match flag.strip_prefix("--") {
        Some(long) => verb.get_arguments().find(|a| a.get_long() == Some(long)),
        None => verb.get_positionals().nth(place),
    };
    found?.get_help().map(ToString::to_string)
}

/// Every flag that a form of Studio shows exists, and the form has its help; `SOLEUS_UPDATE=1` writes the helps anew.
#[test]
fn identity_forms_have_the_help_of_the_flags() {
    let mut command = Cli::command();
    command.build();
    let mut helps = std::collections::BTreeMap::<&str, std::collections::BTreeMap<&str, String>>::new();
    let mut words = std::collections::BTreeMap::<&str, usize>::new();
    for [tool, verb, field, flag] in soleus_studio::tools::flags() {
        let name = flag.trim_end_matches('!');
        let place = words.entry(tool).or_default();
        let help =
            help_of(&command, verb, name, *place).unwrap_or_else(|| panic!("soleus {verb} has no `{name}`"));
        *place += usize::from(name.is_empty());
        // A field that is the opposite of its flag has a text of its own.
        if name == flag {
            helps.entry(tool).or_default().insert(field, help);
        }
    }
    let made = serde_json::to_string_pretty(&helps).unwrap() + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../soleus-studio/src/tools/helps.json");
    if std::env::var_os("SOLEUS_UPDATE").is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept == made, "helps.json is old: SOLEUS_UPDATE=1 cargo test -p soleus-cli --lib forms_have");
}

#[test]
fn identity_every_verb_is_in_a_group_and_on_a_short_line() {
    let mut command = Cli::command();
    command.build();
    let grouped: Vec<&str> = GROUPS.iter().flat_map(|g| g.1).copied().collect();
    for verb in command.get_subcommands().map(clap::Command::get_name) {
        assert_eq!(grouped.iter().filter(|g| **g == verb).count(), 1, "{verb}");
    }
    let all: String = command.get_subcommands().map(|c| c.clone().render_long_help().to_string()).collect();
    for line in soleus::text::wrapped(&(all + &super::command().render_long_help().to_string()), 100).lines()
    {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

/// The arguments of a verb are listed late: a doc comment on their struct would replace its line of help.
#[test]
fn identity_verbs_keep_their_line_of_help() {
    let (early, mut late) = (Cli::command(), Cli::command());
    late.build();
    for verb in early.get_subcommands() {
        let listed = late.find_subcommand(verb.get_name()).and_then(clap::Command::get_about);
        assert_eq!(listed.map(ToString::to_string), verb.get_about().map(ToString::to_string));
    }
}

#[test]
fn identity_old_flags_are_known_to_their_verbs() {
    let mut command = Cli::command();
    command.build();
    for (verb, old, new) in OLD_FLAGS {
        let verb = command.find_subcommand(verb).unwrap_or_else(|| panic!("{verb}"));
        let arg =
            verb.get_arguments().find(|a| a.get_long() == Some(&new[2..])).unwrap_or_else(|| panic!("{new}"));
        let aliases = arg.get_all_aliases().unwrap_or_default();
        assert!(aliases.contains(&&old[2..]), "{old}");
    }
}
