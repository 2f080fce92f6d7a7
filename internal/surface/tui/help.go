package tui

import (
	"strings"

	"company/internal/present/view"
)

// helpText describes the keys, in sections.
const helpText = `EVERYWHERE
  ?             these keys
  i             questions and pull requests that wait for you
  S             stop the office at once (type stop to confirm)
  R             lift the stop
  q, Ctrl-C     quit: the company goes on
  Ctrl-Z        suspend: the shell's fg comes back

OVERVIEW
  tab, h/l      the next pane, the one before
  j/k, arrows   move
  enter         open the task, or the conversation of the run
  n             a new task: its instruction, for the project where you are
  /             only tasks with a text in id, state, title, tag or project;
                in the feed, search
  a             all tasks, or only those open and the newest that ended
  esc           show all tasks again

A TASK, ON THE OVERVIEW AND ON ITS SCREEN
  p             pause it, or go on with it
  X             cancel it (type its id to confirm)
  r             retry it, where it failed or was cancelled
  b             raise its cap
  o, M          its pull request: read it, merge it (company pr merge asks)
  c             copy the selected id

TASK
  j/k           move over its subtasks and runs
  1 2 3 4       details, transcript, diff with findings, gates (h/l the next)
  t, d          transcript, diff
  tab, enter    read the text: keys go there, and it gets the screen
  j/k, PgUp/Dn  scroll; g and G to its ends, where a transcript is followed
  /, n, N       search the text; the next match, the one before
  m             a message to the worker of the subtask
  esc           back

QUESTIONS AND PULL REQUESTS
  j/k           move
  y, n          yes, no; then Enter (an amount or words can go with it)
  3 to 9        a further answer, as the question lists it
  w, e          answer in your words, in your editor
  o, M          read a pull request, merge it
  c             copy the id, or the address of the pull request
  d, enter      the diff, the task that it is about
  esc           back

TYPING
  enter, esc    send it, take it back
  Ctrl-G        write the words in your editor ($VISUAL, else $EDITOR)

SIGNS
  +  done, or passed         x  failed, or refused
  >  begun                   !  it needs you
  -  for your information    ~  look at it: untested, waiting, or not as planned

A cost of ≤ is what a run may cost at most, until a first reply has a cost.`

// helpLines returns the help text as lines.
func helpLines(style view.Style) []string {
	lines := strings.Split(helpText, "\n")
	for i, line := range lines {
		if line == strings.ToUpper(line) {
			lines[i] = style.Heading(line)
		}
	}
	return lines
}
