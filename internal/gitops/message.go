package gitops

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/company"
)

// A commit's message goes to the origin with it, where terminals print it,
// forges close issues by it, and CI servers obey it. Agents write it, so it is
// held to say nothing to any of them.

var (
	// What CI servers take for "do not test this": GitHub, GitLab, Gitea,
	// Azure, Travis, CircleCI, Cirrus, Netlify and others.
	skipRE = regexp.MustCompile(`(?i)\[\s*(?:(?:skip|no)[\s_-]*(?:ci|actions?|checks?|builds?|tests?|deploy|pipelines?|azurepipelines|azp|travis|circleci|cirrus|appveyor|drone|woodpecker|buildkite|netlify|render|vercel|semaphore)|(?:ci|actions?|azurepipelines|azp|travis|circleci|cirrus|appveyor|drone|woodpecker|buildkite|netlify|render|vercel|semaphore)[\s_-]*skip)[^\]\n]{0,40}\]|\*{3}NO_CI\*{3}`)
	// A trailer that does the same.
	skipTrailerRE = regexp.MustCompile(`(?im)^\s*skip-checks\s*:\s*true\b`)
	// Words by which a forge closes or reopens an issue once the commit is
	// merged, with what they name.
	closeRE = regexp.MustCompile(`(?i)\b(?:clos|fix|resolv|reopen|implement)(?:e[sd]?|ing|s|ed|es)?(?:\s*:\s*|\s+)(?:(?:issues?|bugs?|tickets?|pr|pull requests?)\s+)?((?:[\w.-]+/[\w.-]+)?[#!][0-9]+|gh-[0-9]+|https?://\S+/(?:issues|pulls?|merge_requests|work_items)/[0-9]+)`)
	// What a person vouches for by name.
	vouchRE = regexp.MustCompile(`(?im)^\s*(signed-off-by|reviewed-by|acked-by|approved-by|tested-by|co-authored-by)\s*:\s*(.*)$`)
)

// hidden says whether a character steers a terminal or hides in a line.
// Joiners are part of words in some scripts, and of emoji.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
		return false
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError
}

// judgeMessage refuses a message that says something to a terminal, a forge or
// a CI server. may are those whose sign-off may stand in it.
func judgeMessage(c Commit, may ...Person) error {
	refuse := func(what, why, fix string) error {
		return company.E(company.EObjects, fmt.Sprintf("the message of commit %s %s", c.OID.Short(), what)).Because(why).
			Fix(fix + " (git commit --amend, or git rebase --exec for an older one), and push again")
	}
	if at := strings.IndexFunc(c.Message, hidden); at >= 0 {
		r, _ := utf8.DecodeRuneInString(c.Message[at:])
		return refuse(fmt.Sprintf("holds a character that does not show (U+%04X, line %d)", r, 1+strings.Count(c.Message[:at], "\n")),
			"it would steer the terminal of whoever reads the log, or hide words in it", "write it in letters that show")
	}
	for _, re := range []*regexp.Regexp{skipRE, skipTrailerRE} {
		if m := re.FindString(c.Message); m != "" {
			return refuse(fmt.Sprintf("says %q", strings.TrimSpace(m)), "servers at the origin would not test the commit then", "leave those words out")
		}
	}
	if m := closeRE.FindString(c.Message); m != "" {
		return refuse(fmt.Sprintf("says %q", m), "the forge would close that issue when the commit is merged, which is for people to say", "name the issue without that verb, or leave it out")
	}
	for _, m := range vouchRE.FindAllStringSubmatch(c.Message, -1) {
		if !vouches(m[2], may) {
			return refuse(fmt.Sprintf("says %q", clipped(strings.TrimSpace(m[0]), 120)), "nobody but that person may say so", "leave the line out: what has to be signed off is signed off by itself")
		}
	}
	return nil
}

func vouches(who string, may []Person) bool {
	name, mail, ok := strings.Cut(strings.TrimSpace(who), " <")
	for _, p := range may {
		if ok && p.Name != "" && p.same(Person{Name: name, Email: strings.TrimSuffix(mail, ">")}) {
			return true
		}
	}
	return false
}

func clipped(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// inertMessage takes out of text for a message of our own what judgeMessage
// refuses: a title may come from a model. What it names stays readable.
func inertMessage(s string) string {
	s = strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, s)
	s = skipRE.ReplaceAllStringFunc(s, func(m string) string { return strings.Trim(m, "[]*") })
	s = skipTrailerRE.ReplaceAllStringFunc(s, func(m string) string { return strings.Replace(m, ":", "", 1) })
	for range 3 { // what is taken out may bring words together
		s = closeRE.ReplaceAllStringFunc(s, func(m string) string {
			sub := closeRE.FindStringSubmatch(m)
			return strings.TrimSuffix(m, sub[1]) + "(" + sub[1] + ")"
		})
	}
	return vouchRE.ReplaceAllStringFunc(s, func(m string) string { return "> " + strings.TrimSpace(m) })
}
