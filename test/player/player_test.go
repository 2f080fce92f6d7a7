package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testCase is a case of two parts, of which one has a mistake that tests show.
func testCase(t *testing.T) []Case {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "two")
	files := map[string]string{
		"facts.json": `{"knows": "Two repairs,", "title": "Repair two", "test": "go test", "parts": [
			{"key": "one", "title": "Repair one", "asks": "One is right.", "did": "One is right.", "files": ["a.go#1"],
			 "mistakes": [{"file": "a.go", "line": 3, "right": "return 1", "wrong": "return 7", "shows": "TestOne", "finding": "One is seven."}]},
			{"key": "two", "title": "Repair two", "asks": "Two is right.", "did": "Two is right.", "files": ["a.go#2", "two_test.go"]}]}`,
		"solution.patch": "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -2,2 +2,2 @@\n func one() int {\n-\treturn " +
			"0\n+\treturn 1\n@@ -9,2 +9,2 @@\n func two() int {\n-\treturn 0\n+\treturn 2\n" +
			"diff --git a/two_test.go b/two_test.go\nnew file mode 100644\n--- /dev/null\n+++ b/two_test.go\n@@ -0,0 +1 " +
			"@@\n+package a\n",
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases, err := readCases([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// follow plays a conversation of an engineer against a world that answers each call.
func follow(t *testing.T, s Skill, cases []Case, brief string, answer func(Call) string) (turns [][]Call) {
	t.Helper()
	q := Request{Messages: []Message{{Role: "user", Content: brief}}}
	for _, name := range []string{"read_file", "edit_file", "write_file", "run_command", "finish"} {
		q.Tools = append(q.Tools, Tool{Name: name})
	}
	for range 9 {
		r := s.Answer(q, cases)
		turns = append(turns, r.Calls)
		q.Messages = append(q.Messages, Message{Role: "assistant", Calls: throughJSON(t, r.Calls)})
		for _, c := range r.Calls {
			if c.Tool == "finish" {
				return turns
			}
			q.Messages = append(q.Messages, Message{Role: "tool", Content: answer(c)})
		}
	}
	t.Fatalf("the player does not finish: %v", turns)
	return nil
}

// throughJSON is what the calls are after they went over a wire.
func throughJSON(t *testing.T, calls []Call) (out []Call) {
	t.Helper()
	text, err := json.Marshal(calls)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func namesOf(turns [][]Call) string {
	var b strings.Builder
	for _, calls := range turns {
		for _, c := range calls {
			b.WriteString(c.Tool + " ")
		}
		b.WriteString("| ")
	}
	return b.String()
}

const shown = "1: package a\n2: func one() int {\n3: \treturn 0\n9: func two() int {\n10: \treturn 0\n"

// An engineer uses a change once it was shown the lines that the change replaces, tests, and
// corrects a mistake once the tests show it.
func TestEngineer(t *testing.T) {
	cases := testCase(t)
	answer := func(c Call) string {
		if c.Tool == "read_file" {
			return shown
		}
		return "ok"
	}
	turns := follow(t, Skill{Seed: 1}, cases, "Two repairs, please.", answer)
	if got := namesOf(turns); got != "read_file | edit_file edit_file write_file run_command | finish | " {
		t.Errorf("without a mistake: %s", got)
	}
	if turns = follow(t, Skill{Seed: 1}, cases, "Two repairs, please.\n"+shown, answer); namesOf(
		turns) != "edit_file edit_file write_file run_command | finish | " {
		t.Errorf("what the brief shows is read: %s", namesOf(turns))
	}
	red := func(c Call) string {
		if c.Tool == "run_command" {
			return "--- FAIL: TestOne"
		}
		return answer(c)
	}
	turns = follow(t, Skill{Seed: 1, Mistake: 1}, cases, "Two repairs, please.\n"+shown, red)
	if got := namesOf(turns); got != "edit_file edit_file write_file run_command | edit_file run_command | finish | " ||
		turns[0][0].Args["new"] != "func one() int {\n\treturn 7\n" || turns[1][0].Args["new"] != "return 1" {
		t.Errorf("with a mistake: %s, %v", got, turns)
	}
	if turns = follow(t, Skill{Seed: 1, Mistake: 1}, cases, "Two repairs, please.\n"+shown, answer); namesOf(
		turns) != "edit_file edit_file write_file run_command | finish | " {
		t.Errorf("a mistake that nothing shows is corrected: %s", namesOf(turns))
	}
	const goesOn = "Two repairs, please.\nThe reviewer: One is seven.\n--- a/a.go\n+++ b/a.go\n@@ -2,2 +2,2 @@\n func " +
		"one() int {\n-\treturn 0\n+\treturn 7\n func two() int {\n-\treturn 0\n+\treturn 2\n" +
		"--- /dev/null\n+++ b/two_test.go\n@@ -0,0 +1 @@\n+package a\n"
	turns = follow(t, Skill{Seed: 1, Mistake: 1}, cases, goesOn, answer)
	if got := namesOf(turns); got != "edit_file run_command | finish | " || turns[0][0].Args["new"] != "return 1" {
		t.Errorf("a branch with work, and a finding: %s, %v", got, turns)
	}
}

// A player that guesses the command of the tests learns by its failure, notes it, and guesses no more where a
// note says so.
func TestGuess(t *testing.T) {
	cases := testCase(t)
	s := Skill{Guess: "make test"}
	ask := func(q Request) []Call { return throughJSON(t, s.Answer(q, cases).Calls) }
	q := Request{Messages: []Message{{Role: "user", Content: "Two repairs, please.\n" + shown}},
		Tools: []Tool{{Name: "edit_file"}, {Name: "note"}}}
	first := ask(q)
	if last := first[len(first)-1]; last.Args["command"] != "make test" {
		t.Fatalf("%v", first)
	}
	q.Messages = append(q.Messages, Message{Role: "assistant", Calls: first},
		Message{Role: "tool", Content: "make: not found"})
	second := ask(q)
	if len(second) != 2 || second[0].Tool != "note" || second[1].Args["command"] != "go test" {
		t.Fatalf("%v", second)
	}
	q.Messages = []Message{{Role: "user",
		Content: "Two repairs, please.\n" + shown + "t1-01.1: " + second[0].Args["text"].(string)}}
	if again := ask(q); again[len(again)-1].Args["command"] != "go test" {
		t.Errorf("%v", again)
	}
}

// What a part is made from is read before it is written.
func TestSourcesAreRead(t *testing.T) {
	cases := testCase(t)
	cases[0].Parts[1].Reads = []string{"words.txt"}
	turns := follow(t, Skill{}, cases, "Two repairs, please.\n"+shown, func(Call) string { return "ok" })
	if got := namesOf(turns); got != "read_file | edit_file edit_file write_file run_command | finish | " ||
		turns[0][0].Args["path"] != "words.txt" {
		t.Errorf("%s %v", got, turns)
	}
}

// Of a ticket of its own the player does that part alone.
func TestOwnPart(t *testing.T) {
	cases := testCase(t)
	turns := follow(t, Skill{}, cases, "Two repairs, please.\n[part two] Two is right.\n"+shown,
		func(Call) string { return "ok" })
	if got := namesOf(turns); got != "edit_file write_file run_command | finish | " ||
		turns[0][0].Args["old"] != "func two() int {\n\treturn 0\n" {
		t.Errorf("%s %v", got, turns)
	}
}

// A review finds a mistake of a diff at its rate, and approves a right diff.
func TestReview(t *testing.T) {
	cases := testCase(t)
	tool := Tool{Name: "submit_review"}
	ask := func(s Skill, diff string) Call {
		q := Request{Messages: []Message{{Role: "user", Content: "[part one] One is right.\n## Acceptance criteria\n- a\n- " +
			"b\n\n## Gates\n- test passed\n" + diff}}, Tools: []Tool{tool}}
		return s.Answer(q, cases).Calls[0]
	}
	const right, wrong = "-\treturn 0\n+\treturn 1\n", "-\treturn 0\n+\treturn 7\n"
	if c := ask(Skill{Finds: 1}, right); c.Args["verdict"] != "approve" || len(c.Args["evidence"].([]any)) != 2 {
		t.Errorf("what is right: %v", c)
	}
	if c := ask(Skill{Finds: 1}, wrong); c.Args["verdict"] != "request_changes" {
		t.Errorf("what is wrong: %v", c)
	}
	if c := ask(Skill{Finds: 0}, wrong); c.Args["verdict"] != "approve" {
		t.Errorf("a reviewer that finds nothing: %v", c)
	}
	tool.Schema = json.RawMessage(`{"properties":{"evidence":{"items":{"properties":{"for":{}}}}}}`)
	if c := ask(Skill{Finds: 1}, right); len(c.Args["evidence"].([]any)) != 1 ||
		fmt.Sprint(c.Args["evidence"].([]any)[0].(map[string]any)["for"]) != "[1 2]" {
		t.Errorf("evidence by number: %v", c)
	}
}

// freeCase is a case of two parts that have files of their own, each of so many lines.
func freeCase(lines int) []Case {
	c := Case{Name: "free", Knows: "Two repairs,", Title: "Repair two", Test: "go test"}
	for _, key := range []string{"one", "two"} {
		c.Parts = append(c.Parts, Part{
			Key: key, Title: "Repair " + key, Asks: key + " is right.", Did: key + " is right.",
			Edits: []Edit{{File: key + ".go", New: "package " + key + "\n" + strings.Repeat("// more\n", lines)}},
		})
	}
	return []Case{c}
}

// A planner has a ticket for each large part, and one for all where they are small. Parts that change the same file are one ticket.
func TestPlan(t *testing.T) {
	const instruction = "Two repairs, please. Repair one,\nplease.\n- Repair two, please.\n"
	tickets := func(calls []Call) []any { return calls[0].Args["subtasks"].([]any) }
	q := Request{Messages: []Message{{Role: "user", Content: instruction + shown}}, Tools: []Tool{{Name: "submit_plan"}}}
	first := Skill{}.Answer(q, freeCase(4000)).Calls
	got := tickets(first)
	if len(got) != 2 {
		t.Fatalf("%v", first)
	}
	if got := tickets(Skill{}.Answer(q, testCase(t)).Calls); len(got) != 1 {
		t.Errorf("parts of one file: %v", got)
	}
	if small := (Skill{}).Answer(q, freeCase(50)).Calls; len(tickets(small)) != 1 {
		t.Errorf("small parts: %v", small)
	}
}

// An engineer who is asked to gives large free parts away before it changes anything, and whoever decides
// plans them by its reason.
func TestLargePartsAreGivenAway(t *testing.T) {
	const brief = "Two repairs, please.\nIf it has large independent parts, call escalate before you " +
		"change anything."
	ask := func(cases []Case, text string, tools ...string) Call {
		q := Request{Messages: []Message{{Role: "user", Content: text}}}
		for _, name := range tools {
			q.Tools = append(q.Tools, Tool{Name: name})
		}
		return Skill{}.Answer(q, cases).Calls[0]
	}
	given := ask(freeCase(4000), brief, "edit_file", "escalate")
	if given.Tool != "escalate" {
		t.Fatalf("%v", given)
	}
	if c := ask(freeCase(5), brief, "edit_file", "escalate"); c.Tool != "write_file" {
		t.Errorf("small parts: %v", c)
	}
	if c := ask(freeCase(4000), "Two repairs, please.", "edit_file", "escalate"); c.Tool != "write_file" {
		t.Errorf("nobody else is there: %v", c)
	}
	said := "Two repairs, please.\n" + given.Args["reason"].(string)
	if c := ask(freeCase(4000), said, "guide_worker", "replan_ticket"); c.Tool != "replan_ticket" ||
		len(c.Args["subtasks"].([]any)) != 2 {
		t.Errorf("%v", c)
	}
	if c := ask(freeCase(4000), "Two repairs, please.", "guide_worker", "replan_ticket"); c.Tool != "give_up" {
		t.Errorf("of another reason: %v", c)
	}
}
