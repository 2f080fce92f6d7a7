package company

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxPullTitle is the most characters of a pull request's title.
const MaxPullTitle = 70

// PullTitleFault says why a title that an agent gives is not put over a pull request;
// "": it may be. A title goes into the commit message of a squash merge, where a forge
// notifies each @name and closes issues.
func PullTitleFault(title string) string {
	n := utf8.RuneCountInString(title)
	switch {
	case n > MaxPullTitle:
		return fmt.Sprintf("the title has %d characters, %d are allowed", n, MaxPullTitle)
	case TitleOf(title) != strings.TrimSpace(title) || strings.TrimSpace(title) == "":
		return "the title is not one plain line"
	case strings.Contains(title, "://"):
		return "the title holds an address"
	case namesAfter(title, '@', unicode.IsLetter):
		return "the title calls an @name, whom the forge would notify"
	case namesAfter(title, '#', unicode.IsDigit), namesAfter(title, '!', unicode.IsDigit),
		namesAfter(strings.ReplaceAll(strings.ToLower(title), "gh-", "#"), '#', unicode.IsDigit):
		return "the title names an issue, which the forge might close"
	}
	return ""
}

// namesAfter says whether a mark stands in front of a character of a kind.
func namesAfter(text string, mark rune, kind func(rune) bool) bool {
	before := ' '
	for _, r := range text {
		if before == mark && kind(r) {
			return true
		}
		before = r
	}
	return false
}

// PullTitle is the title of the task's pull request: the manager's, where it gave one that
// may be used; one that is too long is cut. Otherwise the instruction is it, or, where that is too long, the title of
// the only subtask. A title that is too long even so is cut at a blank, and ends with " …".
func (t *Task) PullTitle() string {
	planned := strings.TrimSpace(t.Plan.Title)
	if planned == TitleOf(planned) {
		planned = cutTitle(planned, MaxPullTitle)
	}
	if PullTitleFault(planned) == "" {
		return planned
	}
	title := TitleOf(t.Instruction)
	if utf8.RuneCountInString(title) > MaxPullTitle && len(t.Subtasks) == 1 && t.Issue == nil {
		if only := t.Subtasks[0].Planned.Title; PullTitleFault(only) == "" {
			return TitleOf(only)
		}
	}
	return cutTitle(title, MaxPullTitle)
}

// cutTitle cuts a line at a blank to a number of characters, the mark of the cut among
// them. A line without blanks is cut anywhere.
func cutTitle(title string, most int) string {
	runes := []rune(title)
	if len(runes) <= most {
		return title
	}
	at := most - 2
	if word := strings.LastIndexByte(string(runes[:at+1]), ' '); word > 0 {
		return strings.TrimRight(string(runes[:at+1])[:word], " ") + " …"
	}
	return string(runes[:at]) + " …"
}
