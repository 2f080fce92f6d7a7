package tui

import (
	"bytes"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/teatest/v2"
)

var withinPatience = teatest.WithFinalTimeout(patience)

func newTestProgram(t *testing.T, m tea.Model, width, height int) *teatest.TestModel {
	t.Helper()
	return teatest.NewTestModel(t, m, teatest.WithInitialTermSize(width, height))
}

// awaitOutput waits until the program has drawn a text.
func awaitOutput(t *testing.T, tm *teatest.TestModel, text string) {
	t.Helper()
	teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return bytes.Contains(out, []byte(text)) }, teatest.WithDuration(patience))
}
