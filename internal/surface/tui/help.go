package tui

import (
	"strings"

	"company/internal/present/view"
)

// helpText describes the keys, in sections.
const helpText = `EVERYWHERE
  ?             these keys
  i             questions and pull requests that wait for you
  S             stop the office immediately (type stop to confirm)
  R             lift the stop
  q, Ctrl-C     quit; the company keeps working
  Ctrl-Z        suspend; fg in the shell returns

OVERVIEW
  tab, h/l      next and previous pane
  j/k, arrows   move
  enter         open the task, or the conversation of the run
  n             submit a new task for the current project
  /             filter tasks by id, state, title, tag or project;
                in the feed, search
  a             show all tasks, or only open and recently ended ones
  esc           clear the filter

A TASK, ON THE OVERVIEW AND ON ITS SCREEN
  p             pause or resume it
  X             cancel it (type its id to confirm)
  r             retry it after it failed or was cancelled
  b             raise its cap
  o, M          read or merge its pull request (company pr merge asks)
  c             copy the selected id

TASK
  j/k           move through its subtasks and runs
  1 2 3 4       details, transcript, diff with findings, gates (h/l: next)
  t, d          transcript, diff
  tab, enter    focus the text and show it full screen
  j/k, PgUp/Dn  scroll; g and G: start and end (a transcript is followed)
  /, n, N       search the text; next and previous match
  m             send a message to the worker of the subtask
  esc           back

QUESTIONS AND PULL REQUESTS
  j/k           move
  y, n          yes or no; then Enter (you may add an amount or a text)
  3 to 9        another answer that the question lists
  w, e          answer in your own words, here or in your editor
  o, M          read or merge a pull request
  c             copy the id, or the address of the pull request
  d, enter      show the diff, open the task
  esc           back

TYPING
  enter, esc    send, cancel
  Ctrl-G        continue in your editor ($VISUAL or $EDITOR)

SIGNS
  +  done, or passed         x  failed, or refused
  >  started                 !  needs you
  -  for your information    ~  check it: untested, waiting, or not as planned

A cost with ≤ is the most a run may cost, until its first reply.`

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
