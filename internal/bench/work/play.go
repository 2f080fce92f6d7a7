package work

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/patch"
	"company/internal/safetext"
)

// play is a recorded conversation: what the model of each role says, turn by turn. It
// depends on nothing that the company says, so that every program is played the same.
type play struct {
	manager []scripted.Reply
	worker  []scripted.Reply
	look    []scripted.Reply // of the reviewer, before its verdict
	command string           // that the reviewer's evidence names
	files   []string         // that it names beside it
}

// reply is the next one of a conversation.
func (p play) reply(x scripted.Exchange) scripted.Reply {
	var steps []scripted.Reply
	switch x.Header.Role {
	case company.Manager:
		steps = p.manager
	case company.Worker:
		steps = p.worker
	case company.Reviewer:
		if steps = p.look; x.Turn == len(steps) {
			return p.approve(x)
		}
	}
	if x.Turn >= len(steps) {
		last := ""
		if n := len(x.Messages); n > 0 {
			last = safetext.EscapeLine(x.Messages[n-1].Content, 200)
		}
		return scripted.Reply{Err: fmt.Sprintf("the recorded conversation has %d replies of the %s; the answer to the last: %s", len(steps), x.Header.Role, last)}
	}
	return steps[x.Turn]
}

// approve is a verdict with evidence for as many criteria as there are.
func (p play) approve(x scripted.Exchange) scripted.Reply {
	shown := fmt.Sprintf("`%s` passes, and the diff of %s has it", p.command, strings.Join(p.files, ", "))
	n := min(max(1, len(x.Listed("Acceptance criteria"))), mostCriteria)
	return callTool("submit_review", map[string]any{"verdict": "approve", "evidence": slices.Repeat([]string{shown}, n), "findings": []string{}})
}

// callTool is a reply of one call.
func callTool(name string, args map[string]any) scripted.Reply {
	raw, err := json.Marshal(args)
	if err != nil {
		return scripted.Reply{Err: err.Error()}
	}
	return scripted.Reply{Calls: []scripted.Call{{Tool: name, Raw: string(raw)}}}
}

func readFile(path string) scripted.Reply {
	return callTool("read_file", map[string]any{"path": path})
}

func runCommand(line string) scripted.Reply {
	return callTool("run_command", map[string]any{"command": line})
}

// filePatch is the part of a patch that is about one file.
type filePatch struct {
	path    string
	created bool
	hunks   []hunk
}

// hunk is one change: a text and what stands in its place.
type hunk struct{ old, new string }

// readPatch reads a patch of texts, as git writes it.
func readPatch(text []byte) (files []filePatch) {
	var file *patch.File
	for l := range patch.Lines(string(text)) {
		if l.File == nil {
			continue
		}
		if l.File != file {
			file = l.File
			files = append(files, filePatch{})
		}
		f := &files[len(files)-1]
		switch l.Kind {
		case patch.Heading:
			f.path, f.created = file.Path(), file.Old == ""
			continue
		case patch.Hunk:
			f.hunks = append(f.hunks, hunk{})
			continue
		}
		h, body := &f.hunks[len(f.hunks)-1], l.Raw[1:]
		if l.Kind == patch.Added || l.Kind == patch.Kept {
			h.new += body
		}
		if l.Kind == patch.Removed || l.Kind == patch.Kept {
			h.old += body
		}
	}
	return files
}

// recordCase is the conversation of a case: its solution, made as a careful engineer makes
// it. The manager reads the files that change and plans one ticket; the worker looks around, reads,
// tests, edits, reads again, tests and commits; the reviewer tests and reads.
func recordCase(c Case) (play, error) {
	files := readPatch(c.Solution)
	if len(files) == 0 {
		return play{}, faultOf(c.Dir, SolutionFile, "there is no solution to play").Fix("write it with git diff --binary")
	}
	p := play{command: c.Run}
	var set []string
	p.manager = append(p.manager, callTool("list_files", map[string]any{}))
	p.worker = append(p.worker, callTool("list_files", map[string]any{}), runCommand("git log --oneline | head -5"))
	for _, f := range files {
		set, p.files = append(set, f.path), append(p.files, f.path)
		if !f.created {
			p.manager, p.worker = append(p.manager, readFile(f.path)), append(p.worker, readFile(f.path))
		}
	}
	p.worker = append(p.worker, runCommand(c.Run))
	for _, f := range files {
		for _, h := range f.hunks {
			if f.created {
				p.worker = append(p.worker, callTool("write_file", map[string]any{"path": f.path, "content": h.new}))
			} else {
				p.worker = append(p.worker, callTool("edit_file", map[string]any{"path": f.path, "old": h.old, "new": h.new}))
			}
		}
		p.worker = append(p.worker, readFile(f.path))
		p.look = append(p.look, readFile(f.path))
	}
	p.worker = append(p.worker, runCommand(c.Run), runCommand("git diff"),
		callTool("git_commit", map[string]any{"message": "Do what was asked for"}),
		callTool("finish", map[string]any{"summary": "The change is made, and " + c.Run + " passes."}))
	p.look = append([]scripted.Reply{runCommand(c.Run)}, p.look...)
	plan := planOneTicket("Do "+c.Name, "Change "+strings.Join(p.files, ", ")+" as the instruction asks. Keep what other callers see.", set)
	p.manager = append(p.manager, plan, plan) // a version that warns gets it again, as it is
	return p, nil
}

// planOneTicket is a plan of one subtask.
func planOneTicket(title, description string, set []string) scripted.Reply {
	return callTool("submit_plan", map[string]any{"waves": []any{map[string]any{"subtasks": []any{map[string]any{
		"title": title, "description": description, "acceptance_criteria": []string{"the instruction is carried out", "the tests pass"}, "write_set": set, "effort": company.EffortSmall,
	}}}}})
}
