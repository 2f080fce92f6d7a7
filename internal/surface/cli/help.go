package cli

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
	"company/internal/surface/cli/command"
)

// helpTemplate starts with examples because most readers of help want one.
const helpTemplate = `{{.Short}}
{{if .Example}}
Examples:
{{.Example}}
{{end}}{{if .Runnable}}
Usage:
  {{.UseLine}}{{if .HasAvailableSubCommands}} <command>{{end}}
{{end}}{{with .Long}}
{{.}}
{{end}}{{if .HasAvailableSubCommands}}{{$commands := .Commands}}{{range $group := .Groups}}
{{$group.Title}}:{{range $commands}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{if not .Groups}}
Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}{{if .HasAvailableInheritedFlags}}
Global flags, such as -o json, --yes and --set: {{.Root.Name}} --help
{{end}}
Exit codes: 0 complete, 1 error, 2 incomplete (waiting for you, or cancelled),
3 the process that holds the office does not answer, 64 usage error,
130 interrupted, 141 output closed early (SIGPIPE){{if eq .Name "doctor"}}; doctor: 0 green, 1 red, 2 could not check{{end}}.
`

// commandGroups lists the commands in the order in which a user needs them.
var commandGroups = []struct{ title, names string }{
	{"Submit and control tasks", "submit wait resume retry rollback pause cancel stop"},
	{"Inspect", "status watch open list show feed logs prompt diff evidence agents costs"},
	{"Answer and review", "answer approve reject tell budget plan pr"},
	{"Set up and run the office", "init config trust doctor project serve hire fire cleanup"},
	{"Advanced", "mcp git image bus migrate replay completion version help"},
}

// groupCommands puts the commands of the root into groups.
func groupCommands(root *cobra.Command) {
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range root.Commands() {
			if slices.Contains(strings.Fields(g.names), cmd.Name()) {
				cmd.GroupID = g.title
			}
		}
	}
	root.SetHelpCommandGroupID(commandGroups[len(commandGroups)-1].title)
}

// newHelp returns the help command. An unknown name is an error and does not print the help of the
// parent command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [command|errors|code]", Short: "Show help for a command or an error code", Args: cobra.ArbitraryArgs,
		Example: "  company help submit\n  company help pr merge\n  company help errors\n  company help E_MODEL",
		RunE: func(cmd *cobra.Command, args []string) error {
			if text, ok := company.ExplainErrors(strings.Join(args, " ")); ok {
				_, err := fmt.Fprint(cmd.OutOrStdout(), text)
				return err
			}
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return company.E(company.EUsage, err.Error()).Fix("company --help")
			}
			if len(rest) > 0 && about.HasSubCommands() {
				return about.ValidateArgs(rest)
			}
			return about.Help()
		},
	}
}

// printHelp writes help in one piece. The code that writes results can then handle a reader that
// closes early.
func printHelp(env *command.Environment, root *cobra.Command) {
	fill := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var text bytes.Buffer
		cmd.SetOut(&text)
		fill(cmd, args)
		cmd.SetOut(env.Out)
		_ = env.PrintLong(termtext.WrapHelp(text.String(), env.Style(env.Out))) // the writer of stdout reports it
	})
}

// asksForJSON reports whether arguments request JSON, for a command line that cannot be parsed.
func asksForJSON(args []string) bool {
	for i, arg := range args {
		switch {
		case arg == "--":
			return false
		case arg == "--json", arg == "-ojson", arg == "-o=json", arg == "--output=json":
			return true
		case (arg == "-o" || arg == "--output") && i+1 < len(args) && args[i+1] == "json":
			return true
		}
	}
	return false
}

// numberForms describes the values that flags of these types take.
var numberForms = map[string]string{"float64": "a number such as 2.50", "int": "a whole number",
	"uint64": "a whole number, 0 or more", "duration": "a time such as 30s or 2h"}

// flagError returns the error for a wrong flag and suggests the closest flag.
func flagError(cmd *cobra.Command, err error) error {
	fault := company.E(company.EUsage, err.Error())
	if wrong := (*pflag.InvalidValueError)(nil); errors.As(err, &wrong) {
		var told *company.Error
		if errors.As(wrong.Unwrap(), &told) {
			return told
		}
		if form := numberForms[wrong.GetFlag().Value.Type()]; form != "" {
			fault = company.E(company.EUsage, fmt.Sprintf(
				"invalid value %q for --%s: must be %s", safetext.EscapeLine(wrong.GetValue(), 80), wrong.GetFlag().Name, form))
		}
	}
	typed, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return fault.Fix(cmd.CommandPath() + " --help")
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	if near := command.NearestName(typed, flags); near != "" {
		return fault.Fix(fmt.Sprintf("did you mean --%s? See %s --help", near, cmd.CommandPath()))
	}
	if begun := flagsOfFirstWord(typed, flags); len(begun) > 0 {
		return fault.Fix(fmt.Sprintf("did you mean --%s? See %s --help", strings.Join(begun, " or --"), cmd.CommandPath()))
	}
	return fault.Fix(cmd.CommandPath() + " --help")
}

// flagsOfFirstWord returns the flags that share the first part that was most likely meant:
// --budget-usd and --budget-tokens for --budgt.
func flagsOfFirstWord(typed string, flags []string) (begun []string) {
	var words []string
	for _, name := range flags {
		if first, _, ok := strings.Cut(name, "-"); ok {
			words = append(words, first)
		}
	}
	word := command.NearestName(typed, words)
	for _, name := range flags {
		if word != "" && strings.HasPrefix(name, word+"-") {
			begun = append(begun, name)
		}
	}
	return begun
}

// describeArguments describes how the number of arguments differs from the number that a command
// takes.
func describeArguments(cmd *cobra.Command, check cobra.PositionalArgs, args []string) string {
	name := cmd.CommandPath()
	if len(args) == 0 {
		return "missing argument for " + name
	}
	if len(args) == 1 && len(cmd.ValidArgs) > 0 {
		return fmt.Sprintf("unknown argument %q for %s", safetext.EscapeLine(args[0], 80), name)
	}
	for limit := len(args) - 1; limit >= 0; limit-- {
		if check(cmd, args[:limit]) == nil {
			if limit == 0 {
				return fmt.Sprintf("unexpected argument %q for %s", safetext.EscapeLine(args[0], 80), name)
			}
			return fmt.Sprintf("%s takes %s, got %d", name, company.Count(limit, "argument"), len(args))
		}
	}
	return "missing argument for " + name
}

// usageErrors makes invalid arguments fail with EUsage, in cmd and all its subcommands.
func usageErrors(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err == nil || company.CodeOf(err) == company.EUsage {
			return err
		}
		fault := company.E(company.EUsage, describeArguments(c, check, args)).Because("usage: " + c.UseLine()).
			Fix(c.CommandPath() + " --help")
		if c.CommandPath() == "company config show" {
			fault = fault.Fix("company config get " + safetext.EscapeLine(args[0], 80))
		}
		return fault
	}
	for _, sub := range cmd.Commands() {
		usageErrors(sub)
	}
}

func newVersion(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Example: "  company version",
		RunE: func(*cobra.Command, []string) error {
			return runVersion(env)
		},
	}
}

func runVersion(env *command.Environment) error {
	commit := officeapp.BuildCommit(command.Commit)
	if env.Output == "json" {
		v := map[string]any{"schema_version": 1, "version": command.Version}
		if commit != "" {
			v["commit"] = commit
		}
		return env.PrintJSON(env.Out, v)
	}
	text := "company " + command.Version
	if commit != "" {
		text += " (" + officeapp.ShortCommit(commit) + ")"
	}
	_, err := fmt.Fprintln(env.Out, text)
	return err
}
