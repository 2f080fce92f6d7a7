package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// From how long on a part is of medium and of large effort: between the times that the company
// takes for them.
const (
	mediumPart = 2 * time.Minute
	largePart  = 8 * time.Minute
)

// mayGiveAway reports whether the work is large and others would do its parts: the request asks for
// that, and the engineer has changed nothing yet.
func (w work) mayGiveAway() bool {
	return w.offers("escalate") && w.shows("large independent parts, call escalate") &&
		w.hasLargeParts() &&
		w.countCalls("edit_file", nil)+w.countCalls("write_file", nil) == 0
}

// hasLargeParts reports whether the work has several free parts, and most of them are not small.
func (w work) hasLargeParts() bool {
	large, files := 0, map[string]bool{}
	for _, p := range w.parts {
		if effortOf([]Part{p}) != "small" {
			large++
		}
		for _, f := range p.listFiles() {
			if files[f] {
				return false
			}
			files[f] = true
		}
	}
	return large > 1 && 2*large > len(w.parts)
}

// giveAway looks at the places of the work and names its parts, with the lines that matter.
func (w work) giveAway() Reply {
	if r := w.readMissing(); r.Calls != nil {
		return r
	}
	var said []string
	for _, p := range w.parts {
		said = append(
			said, fmt.Sprintf("%s (files: %s; lines: %s)", p.Title, strings.Join(p.listFiles(), ", "),
				strings.Join(w.contextOf([]Part{p}), ", ")))
	}
	return call("escalate", "reason", "The parts are large and do not need each other: "+strings.Join(said, "; ")+".")
}

// decide splits a ticket whose engineer names large parts, and gives up what else it is asked for.
func (w work) decide() Reply {
	if !w.offers("replan_ticket") || !w.hasLargeParts() || !w.shows("are large and do not need each other") {
		return call("give_up", "reason", "I do not see what else could be done.")
	}
	return call("replan_ticket", "reason", "Its parts are large and do not need each other.", "subtasks",
		w.ticketsOf(w.split()))
}

// plan reads the places of the work, and plans a ticket for each part where they are large; else
// one for all.
func (w work) plan() Reply {
	if r := w.readMissing(); r.Calls != nil {
		return r
	}
	return w.submitPlan()
}

// submitPlan plans the parts.
func (w work) submitPlan() Reply {
	parts := [][]Part{w.parts}
	if w.hasLargeParts() {
		parts = w.split()
	}
	args := []any{"subtasks", w.ticketsOf(parts), "title", w.c.Title}
	if len(parts) > 1 {
		args = append(args, "why", "The parts touch different files and do not need each other.")
	}
	return call("submit_plan", args...)
}

// split has a group for each part, and one for parts that change the same files.
func (w work) split() (groups [][]Part) {
	for _, p := range w.parts {
		group := []Part{p}
		groups = slices.DeleteFunc(groups, func(g []Part) bool {
			touch := slices.ContainsFunc(g, func(o Part) bool {
				return slices.ContainsFunc(o.listFiles(), func(f string) bool { return slices.Contains(p.listFiles(), f) })
			})
			if touch {
				group = append(g, group...)
			}
			return touch
		})
		groups = append(groups, group)
	}
	return groups
}

// ticketsOf plans a ticket for each group of parts.
func (w work) ticketsOf(groups [][]Part) (tickets []any) {
	for _, group := range groups {
		ticket := map[string]any{"title": cmp.Or(w.titleOf(group), w.c.Title), "effort": effortOf(group)}
		var text, criteria, files []string
		for _, p := range group {
			text = append(text, marker(p)+" "+p.Asks)
			criteria = append(criteria, p.Asks)
			for _, f := range p.listFiles() {
				if !slices.Contains(files, f) {
					files = append(files, f)
				}
			}
		}
		ticket["description"], ticket["acceptance_criteria"], ticket["write_set"],
			ticket["context"] = strings.Join(text, "\n"), criteria, files, w.contextOf(group)
		tickets = append(tickets, ticket)
	}
	return tickets
}

func (w work) titleOf(group []Part) string {
	if len(group) == 1 {
		return group[0].Title
	}
	return ""
}

func effortOf(group []Part) string {
	took := time.Duration(0)
	for _, p := range group {
		took += p.writingTime()
	}
	switch {
	case took < mediumPart:
		return "small"
	case took < largePart:
		return "medium"
	}
	return "large"
}

// contextOf are the lines that an engineer of these parts has to see.
func (w work) contextOf(group []Part) []string {
	out := []string{}
	for _, p := range group {
		for _, e := range p.Edits {
			if e.Old != "" {
				out = append(out, fmt.Sprintf("%s:%d-%d", e.File, max(1, e.Line-10), e.Line+20))
			}
		}
	}
	return out
}
