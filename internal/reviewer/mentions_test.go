package reviewer

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
)

// What a commit message calls by @name reaches somebody at the forge: who
// reviews is shown such lines, and nothing else of the messages.
func TestMentionsAreShown(t *testing.T) {
	id := company.OID(strings.Repeat("a", 40))
	for message, want := range map[string]string{
		"add a limit":                                            "",
		"add a limit\n\nas @octocat asked":                       "as @octocat asked",
		"@team/security must look":                               "@team/security must look",
		"(@octocat), see":                                        "(@octocat), see",
		"by Ann <ann@example.org>":                               "",
		"bump left@1.2.3 and x/@y":                               "",
		"bump @types/node":                                       "bump @types/node",
		"an @ alone, and @-x":                                    "",
		strings.Repeat("far ", 100) + "behind is @octocat":       " @octocat",
		"@types/node " + strings.Repeat("x", 300) + " @octocat":  "@types … @octocat",
		"as @octocat," + strings.Repeat("x", 300) + " has asked": " @octocat",
	} {
		got := findMentions([]gitops.Commit{{OID: id, Message: message}})
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0] != id.Short()+": "+want) {
			t.Errorf("%.60q: %q", message, got)
		}
	}
	flood := findMentions([]gitops.Commit{{OID: id, Message: strings.Repeat("@a\n", 1000)}})
	if len(flood) != maxMentions+1 || flood[maxMentions] != "and more" {
		t.Errorf("%d lines", len(flood))
	}
	b := setup(t, map[string]string{"a.go": "package a\n\nvar x = 1\n"})
	if text := reviewBrief(b.task, b.sub, b.x); strings.Contains(text, "Names in commit messages") {
		t.Error("names are said to be where none are")
	}
	sub := *b.sub
	b.p.Git("switch", "-q", "side")
	b.p.Git("commit", "-q", "--allow-empty", "-m", "nothing yet\n\nas @octocat asked")
	b.p.Git("switch", "-q", "main")
	sub.Head = b.p.Fetch("side")
	x, err := loadSubject(t.Context(), b.p.Mirror, b.task, &sub, b.task.Head)
	if err != nil {
		t.Fatal(err)
	}
	if text := reviewBrief(b.task, &sub, x); !strings.Contains(text, sub.Head.Short()+": as @octocat asked") {
		t.Error("the reviewer is not shown whom a message calls")
	}
}
