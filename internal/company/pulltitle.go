package company

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxPullTitle limits the title of a pull request, in characters.
const MaxPullTitle = 70

// PullTitleFault returns why an agent's title may not be used for a pull request, or "" if it may. A title goes into
// the commit message of a squash merge, where a forge notifies each @name and closes issues.
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

// namesAfter reports whether the mark stands directly before a character of the kind.
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

// PullTitle returns the title of the task's pull request. It uses the manager's title if that is valid, cut if it is
// too long. Otherwise it uses the instruction. If that is too long, it uses the title of the only subtask. A title that
// is still too long is cut at a space and ends with " …".
func (t *Task) PullTitle() string {
	planned := strings.TrimSpace(t.Plan.Title)
	if planned == TitleOf(planned) {
		planned = cutTitle(planned)
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
	return cutTitle(title)
}

// cutTitle cuts a line at a space to at most MaxPullTitle characters, including the ellipsis. It cuts a line without
// spaces anywhere.
func cutTitle(title string) string {
	runes := []rune(title)
	if len(runes) <= MaxPullTitle {
		return title
	}
	index := MaxPullTitle - 2
	if word := strings.LastIndexByte(string(runes[:index+1]), ' '); word > 0 {
		return strings.TrimRight(string(runes[:index+1])[:word], " ") + " …"
	}
	return string(runes[:index]) + " …"
}
