//! What the README says of the command line is what the command line has.

const README: &str = include_str!("../../README.md");

#[test]
fn the_readme_names_every_command_and_no_other() {
    let told: Vec<&str> = README
        .lines()
        .filter_map(|line| line.strip_prefix("| `brb ")?.split(['`', ' ']).next())
        .collect();
    let command = relay::cli::command();
    let there: Vec<&str> = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(clap::Command::get_name)
        .collect();
    assert_eq!(told, there);
}
