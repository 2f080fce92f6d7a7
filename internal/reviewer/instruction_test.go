package reviewer

import (
	"testing"

	"company/internal/company"
)

// The instruction stands once: among the criteria, or, where they leave out some of it, before
// them too.
func TestInstructionStandsOnce(t *testing.T) {
	for instruction, inParts := range map[string]bool{
		"Make it better.\nTell of it in the README.": true,
		"- make it better\n- tell of it":             false,
		"# Title\n\nMake it better. Tell of it.":     false,
		"Make it so. Like:\n```\nx\n```\n":           false,
		"one thing":                                  false,
	} {
		if standsInParts(&company.Task{Instruction: instruction}, nil) != inParts {
			t.Errorf("%q", instruction)
		}
	}
}
