package archtest

import (
	"regexp"
	"strings"
	"testing"
)

// A property test says which property of which document, or of which part of this program, it shows (TST-1). The eight
// that S2 lists are there, and of S0 those that can be generated.
func TestPropertyTestsAreTagged(t *testing.T) {
	tag := regexp.MustCompile(`(?m)^// (Feature: [A-Za-z -]+, Property \d+: \S.*)$`)
	function := regexp.MustCompile(`(?m)^func .*$`)
	titles := map[string]string{}
	for name, text := range trackedFiles(t, ".go") {
		if name == "test/archtest/properties_test.go" {
			continue
		}
		starts := function.FindAllStringIndex(text, -1)
		for i, start := range starts {
			end := len(text)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			before := text[:start[0]]
			doc := before[strings.LastIndex(before, "\n\n")+1:]
			if !strings.Contains(text[start[0]:end], "rapid.Check(") {
				continue
			}
			line := tag.FindStringSubmatch(doc)
			if line == nil {
				t.Errorf("%s: %s: its comment begins with no line such as\n// Feature: ledger, Property 1: Append and Read",
					name, text[start[0]:start[1]])
				continue
			}
			number, title, _ := strings.Cut(line[1], ": ")
			feature, title, _ := strings.Cut(title, ": ")
			number += ": " + feature
			if titles[number] != "" {
				t.Errorf("%s: %s is %q and %q", name, number, titles[number], title)
			}
			titles[number] = title
		}
	}
	for number, title := range map[string]string{
		"Feature: agent-execution-engine, Property 2":  "Task Decomposition Independence",
		"Feature: agent-execution-engine, Property 6":  "Git Naming Conventions",
		"Feature: agent-execution-engine, Property 12": "Command Timeout Enforcement",
		"Feature: agent-execution-engine, Property 16": "Tool Call Round-Trip",
		"Feature: agent-execution-engine, Property 18": "Message Delivery Guarantee",
		"Feature: agent-execution-engine, Property 19": "Conversation History Persistence Round-Trip",
		"Feature: agent-execution-engine, Property 22": "State Persistence Round-Trip",
		"Feature: agent-execution-engine, Property 23": "Execution Result Structure",
		"Feature: lumberjack, Property 4":              "Artifact Path Relativity",
		"Feature: lumberjack, Property 7":              "Flow Graph Cycle Detection",
		"Feature: lumberjack, Property 21":             "Context Redaction",
		"Feature: lumberjack, Property 24":             "Audit Log Redaction",
	} {
		if titles[number] != title {
			t.Errorf("%s is %q, want %q", number, titles[number], title)
		}
	}
}
