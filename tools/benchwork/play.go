package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/gitops/patch"
	"company/internal/lib/safetext"
)

// play is a recorded conversation: the replies of each role's model, turn by turn. The replies do not depend on the
// company's messages, so that every program is played the same.
type play struct {
	manager []scripted.Reply
	worker  []scripted.Reply
	look    []scripted.Reply // replies of the reviewer before its verdict
	command string           // named in the reviewer's evidence
	files   []string         // named in the evidence, too
}

// reply returns the next reply of a conversation.
func (p play) reply(exchange scripted.Exchange) scripted.Reply {
	var steps []scripted.Reply
	switch exchange.Header.Role {
	case company.Manager:
		steps = p.manager
	case company.Worker:
		steps = p.worker
	case company.Reviewer:
		if steps = p.look; exchange.Turn == len(steps) {
			return p.approve(exchange)
		}
	}
	if exchange.Turn >= len(steps) {
		last := ""
		if n := len(exchange.Messages); n > 0 {
			last = safetext.EscapeLine(exchange.Messages[n-1].Content, 200)
		}
		return scripted.Reply{Err: fmt.Sprintf(
			"the recorded conversation has %d replies of the %s; the answer to the last: %s", len(steps),
			exchange.Header.Role, last)}
	}
	return steps[exchange.Turn]
}

// approve returns an approval with evidence for each criterion.
func (p play) approve(exchange scripted.Exchange) scripted.Reply {
	shown := fmt.Sprintf("`%s` passes, and the diff of %s has it", p.command, strings.Join(p.files, ", "))
	n := min(max(1, len(exchange.Listed("Acceptance criteria"))), mostCriteria)
	return callTool("submit_review",
		map[string]any{"verdict": "approve", "evidence": slices.Repeat([]string{shown}, n), "findings": []string{}})
}

// callTool returns a reply with one tool call.
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

// filePatch is the part of a patch for one file.
type filePatch struct {
	path    string
	created bool
	hunks   []hunk
}

// hunk is one change: the old text and its replacement.
type hunk struct{ old, new string }

// readPatch parses a text patch in git's format.
func readPatch(text []byte) (files []filePatch) {
	var file *patch.File
	for line := range patch.Lines(string(text)) {
		if line.File == nil {
			continue
		}
		if line.File != file {
			file = line.File
			files = append(files, filePatch{})
		}
		f := &files[len(files)-1]
		switch line.Kind {
		case patch.Heading:
			f.path, f.created = file.Path(), file.Old == ""
			continue
		case patch.Hunk:
			f.hunks = append(f.hunks, hunk{})
			continue
		}
		h, body := &f.hunks[len(f.hunks)-1], line.Raw[1:]
		if line.Kind == patch.Added || line.Kind == patch.Kept {
			h.new += body
		}
		if line.Kind == patch.Removed || line.Kind == patch.Kept {
			h.old += body
		}
	}
	return files
}

// recordCase returns the conversation for a case: its solution, made as a careful engineer would. The manager reads
// the files that change and plans one ticket. The worker looks around, reads, tests, edits, reads again, tests and
// commits. The reviewer tests and reads.
func recordCase(c Case) (play, error) {
	files := readPatch(c.Solution)
	if len(files) == 0 {
		return play{}, faultOf(c.Dir, SolutionFile, "there is no solution to play").Fix("write it with git diff --binary")
	}
	p := play{command: c.Run}
	var set []string
	p.manager = append(p.manager, callTool("list_files", map[string]any{}))
	p.worker = append(p.worker, callTool("list_files", map[string]any{}), runCommand("git log --oneline | head -5"))
	for _, filePatch := range files {
		set, p.files = append(set, filePatch.path), append(p.files, filePatch.path)
		if !filePatch.created {
			p.manager, p.worker = append(p.manager, readFile(filePatch.path)), append(p.worker, readFile(filePatch.path))
		}
	}
	p.worker = append(p.worker, runCommand(c.Run))
	for _, filePatch := range files {
		for _, hunk := range filePatch.hunks {
			if filePatch.created {
				p.worker = append(p.worker, callTool("write_file", map[string]any{"path": filePatch.path, "content": hunk.new}))
			} else {
				p.worker = append(
					p.worker, callTool("edit_file", map[string]any{"path": filePatch.path, "old": hunk.old, "new": hunk.new}))
			}
		}
		p.worker = append(p.worker, readFile(filePatch.path))
		p.look = append(p.look, readFile(filePatch.path))
	}
	p.worker = append(p.worker, runCommand(c.Run), runCommand("git diff"),
		callTool("git_commit", map[string]any{"message": "Do what was asked for"}),
		callTool("finish", map[string]any{"summary": "The change is made, and " + c.Run + " passes."}))
	p.look = append([]scripted.Reply{runCommand(c.Run)}, p.look...)
	plan := planOneTicket("Do "+c.Name,
		"Change "+strings.Join(p.files, ", ")+" as the instruction asks. Keep what other callers see.", set)
	p.manager = append(p.manager, plan, plan) // a version that warns gets the same plan again
	return p, nil
}

// planOneTicket returns a plan of one subtask.
func planOneTicket(title, description string, set []string) scripted.Reply {
	return callTool("submit_plan", map[string]any{"waves": []any{map[string]any{"subtasks": []any{map[string]any{
		"title": title, "description": description,
		"acceptance_criteria": []string{"the instruction is carried out", "the tests pass"}, "write_set": set,
		"effort": company.EffortSmall,
	}}}}})
}
