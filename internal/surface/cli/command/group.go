package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
	"company/internal/office/config"
)

// NewGroup returns a command that only groups subcommands.
func NewGroup(use, short, example string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || findShow(cmd, args) != nil {
				return nil
			}
			fault := company.E(company.EUsage, fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath()))
			if near := nearestCommand(cmd, args[0]); near != "" {
				return fault.Fix(fmt.Sprintf("did you mean this? %s %s", cmd.CommandPath(), near))
			}
			return fault.Fix(cmd.CommandPath() + " --help")
		},
		RunE: func(c *cobra.Command, args []string) error {
			if show := findShow(c, args); show != nil {
				show.SetContext(c.Context())
				return show.RunE(show, args)
			}
			return c.Help()
		},
	}
}

// idRE matches ids and numbers: t12, t12-03.1, 7, #7.
var idRE = lazyregexp.New(`^(#?[0-9]+|[a-z]+[0-9]+[a-z0-9.-]*)$`)

// findShow returns the group's command "show" if the arguments are the id that it takes, and nil otherwise.
func findShow(group *cobra.Command, args []string) *cobra.Command {
	if !group.HasParent() || len(args) != 1 || !idRE.MatchString(args[0]) {
		return nil
	}
	for _, sub := range group.Commands() {
		if sub.Name() == "show" && sub.ValidateArgs(args) == nil {
			return sub
		}
	}
	return nil
}

// nearestCommand returns the subcommand that was most likely meant, or "".
func nearestCommand(cmd *cobra.Command, typed string) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return NearestName(typed, names)
}

// NearestName returns the name that was most likely meant, or "". It accepts a unique name that
// begins with the typed text, or a name that differs by one typo in four letters.
func NearestName(typed string, names []string) string {
	var begun []string
	for _, name := range names {
		if len(typed) > 1 && strings.HasPrefix(name, strings.ToLower(typed)) {
			begun = append(begun, name)
		}
	}
	if len(begun) == 1 {
		return begun[0]
	}
	return config.NearestName(typed, names, max(1, len(typed)/4))
}
