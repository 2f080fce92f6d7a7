package reviewer

import (
	"fmt"
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
		strings.Repeat("far ", 100) + "behind is @octocat":       "@octocat",
		"@types/node " + strings.Repeat("x", 300) + " @octocat":  "@types … @octocat",
		"as @octocat," + strings.Repeat("x", 300) + " has asked": "@octocat",
	} {
		got := findMentions([]gitops.Commit{{OID: id, Message: message}})
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0] != id.Short()+": "+want) {
			t.Errorf("%.60q: %q", message, got)
		}
	}
	if same := findMentions([]gitops.Commit{{OID: id, Message: strings.Repeat("@a\n", 1000) + "as @octocat asked"}}); len(
		same) != 2 || !strings.Contains(same[1], "@octocat") {
		t.Errorf("%q", same)
	}
	// Neither many lines nor many names hide one: it is named, or the names that are not shown are counted.
	var flood strings.Builder
	for i := range 100 {
		fmt.Fprintf(&flood, "see @name%d\n", i)
	}
	got := findMentions([]gitops.Commit{{OID: id, Message: flood.String()}, {OID: id, Message: "as @octocat asked"}})
	if len(got) != maxMentions+1 || !strings.HasSuffix(got[maxMentions], "@name99 @octocat") {
		t.Errorf("%q", got)
	}
	for i := range 2000 {
		fmt.Fprintf(&flood, "@other%d", i)
		if i%50 != 49 {
			flood.WriteString(" ")
		} else {
			flood.WriteString("\n")
		}
	}
	got = findMentions([]gitops.Commit{{OID: id, Message: flood.String()}, {OID: id, Message: "as @octocat asked"}})
	if last := got[len(got)-1]; len(got) != maxMentions+1 || len(last) > maxOtherNames+200 ||
		!strings.Contains(last, "more names, too many to be shown") {
		t.Errorf("%q", got)
	}
	if last := findMentions(make([]gitops.Commit, maxCommits)); len(last) != 1 ||
		!strings.Contains(last[0], "are not looked at") {
		t.Errorf("%q", last)
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
	if err != nil || len(x.Mentions) > 0 {
		t.Fatalf("%v; a message that is not delivered is shown: %q", err, x.Mentions)
	}
	b.task.Settings.History = company.HistoryKeep
	if x, err = loadSubject(t.Context(), b.p.Mirror, b.task, &sub, b.task.Head); err != nil {
		t.Fatal(err)
	}
	if text := reviewBrief(b.task, &sub, x); !strings.Contains(text, sub.Head.Short()+": as @octocat asked") {
		t.Error("the reviewer is not shown whom a message calls")
	}
}
