package cli

import (
	"testing"

	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
)

// A newcomer reads the commands by what they are for: none stands outside of the groups.
func TestCommandsHaveGroups(t *testing.T) {
	for _, c := range newRoot(command.NewEnvironment(terminalio.Console{})).Commands() {
		if c.GroupID == "" && !c.Hidden {
			t.Errorf("company %s is in no group", c.Name())
		}
	}
}
