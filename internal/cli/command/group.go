package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/config"
)

// NewGroup makes a command that only holds others.
func NewGroup(use, short, example string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			e := company.E(company.EUsage, fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath()))
			if near := nearestCommand(c, args[0]); near != "" {
				return e.Fix(fmt.Sprintf("did you mean this? %s %s", c.CommandPath(), near))
			}
			return e.Fix(c.CommandPath() + " --help")
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
}

// nearestCommand is the subcommand that was most likely meant, or nothing.
func nearestCommand(c *cobra.Command, typed string) string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return NearestName(typed, names)
}

// NearestName is the name that was most likely meant, or nothing: the one that
// begins with the typed text, or that differs from it by one slip in four
// letters. A name that is further away is no help.
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
