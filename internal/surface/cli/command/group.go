package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/office/config"
)

// NewGroup returns a command that only groups subcommands.
func NewGroup(use, short, example string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			fault := company.E(company.EUsage, fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath()))
			if near := nearestCommand(cmd, args[0]); near != "" {
				return fault.Fix(fmt.Sprintf("did you mean this? %s %s", cmd.CommandPath(), near))
			}
			return fault.Fix(cmd.CommandPath() + " --help")
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
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
