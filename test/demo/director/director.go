// Package director is the model of the demo: a program that plays manager,
// workers, reviewer and merger over the OpenAI wire protocol, from outside the
// company's process.
//
// Each reply is made from the request's own messages alone: the header says
// who asks for which ticket, the brief says why, the tools' results say what
// the project looks like, and the number of replies so far says which step
// comes next. It keeps nothing between requests, so a conversation that is
// repeated after a crash gets the same replies. It has no part in deciding
// whether the work is done.
package director

import (
	"fmt"
	"regexp"
	"strings"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/company"
)

// Brain plays every role.
var Brain scripted.Responder = scripted.BrainFunc(reply)

func reply(x scripted.Exchange) scripted.Reply {
	switch x.Header.Role {
	case company.Manager:
		return manage(x)
	case company.Worker:
		return work(x)
	case company.Reviewer:
		return review(x)
	case company.Merger:
		return merge(x)
	}
	return scripted.Reply{Err: fmt.Sprintf("the director does not play %q", x.Header.Role)}
}

// step is one reply of a part.
type step func(x scripted.Exchange) scripted.Reply

// play gives the reply that comes next. A tool that did not do what the step
// before counted on ends the part: a model that goes on regardless would hide
// it.
func play(x scripted.Exchange, steps ...step) scripted.Reply {
	if x.Turn >= len(steps) {
		return giveUp(x, fmt.Sprintf("the part has %d steps, and the run goes on", len(steps)))
	}
	if why := trouble(x); why != "" {
		return giveUp(x, why)
	}
	return steps[x.Turn](x)
}

// giveUp ends a run in the way that its role has for it.
func giveUp(x scripted.Exchange, why string) scripted.Reply {
	switch {
	case x.Offers("escalate"):
		return say("I cannot go on: "+why, call("escalate", Args{"reason": why}))
	case x.Offers("give_up"):
		return say("I give up: "+why, call("give_up", Args{"reason": why}))
	}
	return scripted.Reply{Err: why}
}

// good is how the answer of a tool begins when it did what it was asked for.
var good = map[string]*regexp.Regexp{
	"write_file":  regexp.MustCompile(`^(created|replaced) `),
	"edit_file":   regexp.MustCompile(`^edited `),
	"run_command": regexp.MustCompile(`^exit code 0 `),
	"git_commit":  regexp.MustCompile(`^committed `),
}

// trouble says what went wrong in the calls of the last reply, or nothing.
func trouble(x scripted.Exchange) string {
	for i := len(x.Messages) - 1; i >= 0; i-- {
		m := x.Messages[i]
		if m.Role == adapters.Assistant {
			break
		}
		if re := good[m.ToolName]; m.Role == adapters.ToolRole && re != nil && !re.MatchString(m.Content) {
			return m.ToolName + " answered: " + m.Content
		}
	}
	return ""
}

// Args are the arguments of a call.
type Args map[string]any

func call(tool string, a Args) scripted.Call { return scripted.Call{Tool: tool, Args: a} }

func say(text string, calls ...scripted.Call) scripted.Reply {
	return scripted.Reply{Text: text, Calls: calls}
}

// section is what stands below a heading of the brief, up to the next one.
func section(brief, heading string) string {
	_, rest, ok := strings.Cut("\n"+brief, "\n## "+heading+"\n")
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// items are the lines of a list.
func items(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			out = append(out, item)
		}
	}
	return out
}

var (
	numbered = regexp.MustCompile(`^([0-9]+): ?(.*)$`)
	partMark = regexp.MustCompile(`^\(lines [0-9]+-[0-9]+ of [0-9]+.*\)$`)
)

// file is what a read_file of path has answered last, whole, without the numbers of the lines
// that readers of the whole repository get; ok is false when there was none. An answer that
// shows what changed alone is passed over.
func file(x scripted.Exchange, path string) (lines []string, ok bool) {
	for i := len(x.Messages) - 1; i >= 0 && !ok; i-- {
		for _, c := range x.Messages[i].ToolCalls {
			if c.Name != "read_file" || !strings.Contains(c.Arguments, `"`+path+`"`) {
				continue
			}
			for _, m := range x.Messages[i+1:] {
				if m.ToolCallID != c.ID {
					continue
				}
				if strings.HasPrefix(m.Content, "[") {
					break // an error, or what changed alone
				}
				for line := range strings.Lines(m.Content) {
					line = strings.TrimSuffix(line, "\n")
					if n := numbered.FindStringSubmatch(line); n != nil {
						line = n[2]
					}
					if !partMark.MatchString(line) {
						lines, ok = append(lines, line), true
					}
				}
				break // ids are unique within a turn, not within a conversation
			}
		}
	}
	return lines, ok
}
