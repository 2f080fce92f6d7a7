package gitops

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/lib/lazyregexp"

	"golang.org/x/text/unicode/norm"
)

// A commit's message is pushed with it. Terminals print it, forges close issues because of it, and CI servers obey
// it. Agents write it, so it must not contain commands for any of them. We search for the commands of GitHub, GitLab,
// Gitea, Bitbucket, Azure, Jira, Linear and YouTrack. Letters that only look similar have no effect on programs.
// Issue keys count only in capitals; in lower case they are plain text (page-2, step-1).

var (
	bracketRE = lazyregexp.New(`\[[^\[\]\n]{1,80}\]`)
	noCIRE    = lazyregexp.New(`(?i)\*{3}NO_CI\*{3}`)
	// The target of a skip mark in brackets: the CI's work, or its name.
	ciWordRE = lazyregexp.New(
		`^(?:ci|cd|actions?|checks?|builds?|tests?|deploy(?:s|ments?)?|pipelines?|pages|previews?|releases?|azurepipelines|azpipelines|azp|travis|travisci|circle|circleci|cirrus|appveyor|drone|woodpecker|buildkite|netlify|render|vercel|semaphore|amplify|codemagic|bitrise|jenkins|chromatic|codecov|github|gitlab)$`)
	// A trailer with the same effect.
	skipTrailerRE = lazyregexp.New(`(?im)^\s*skip-checks\s*:\s*true\b`)
	// Verbs that make a forge or tracker close or reopen an issue when the commit is merged, followed by the issue.
	closeRE = lazyregexp.New(
		`(?i)(?:^|[^a-z0-9])(?:clos|fix|resolv|reopen|implement|complet|finish|deliver)(?:e[sd]?|ing|s|ed|es)?` +
			`(?:\s*:\s*|\s+)` +
			`(?:(?:issues?|bugs?|tickets?|tasks?|story|stories|pr|pull requests?|merge requests?)\s+)?` +
			`([\w./-]*[#!][0-9]+|g[hl]-[0-9]+|\[(?:issue|work_item):[^\]\s]*[0-9]+\]|` +
			`https?://\S+/(?:issues?|browse|pulls?|pull-requests|merge_requests|work_items|workitems/edit|tickets?|tasks?|incidents|story|show_bug\.cgi\?id=)/?[\w-]*[0-9]+|(?-i:[A-Z][A-Z0-9_]*-[0-9]+))`)
	// Commands to Jira (PROJ-1 #done) and to YouTrack (#PROJ-1 fixed).
	commandRE = lazyregexp.New(
		`\b([A-Z][A-Z0-9_]*-[0-9]+)\b[^\n]*\s#[A-Za-z]|[#^]([A-Za-z][A-Za-z0-9_]*-[0-9]+)[ \t]+(?i:clos|fix|resolv|reopen|done|verif|obsolete|duplicate|state|won)`)
	// Names of standards look like keys of issues.
	standardRE = lazyregexp.New(
		`^(?:AES|ANSI|ASCII|BASE|BCP|BSD|CODE|CP|CRC|CVE|CWE|DES|ECMA|ED|EN|ES|FIPS|GPL|HMAC|HTTP|I|IEC|IEEE|IPV|ISO|JSR|LATIN|LGPL|MD|P|PEP|PKCS|RFC|RS|RSA|SHA|SSL|TLS|UCS|UTF|X)-[0-9]+$`)
	// Trailers at the end of a message that name a person.
	vouchRE = lazyregexp.New(
		`(?im)^[ \t]*([a-z][\w-]*-(?:by|with|to|of|from)|b?cc|to|from|author|co-?author|committer)\s*:\s*(.*)$`)
	// Trailers that speak for a person even without an address.
	ownWordsRE = lazyregexp.New(
		`(?i)^(?:signed-off|reviewed|acked|acknowledged|approved|tested|verified|reported|suggested|requested|helped|mentored|audited|merged|committed|authored|co-?authored|co-?developed|pair-programmed)-(?:by|with)$`)
)

// isHiddenRune reports whether a character controls a terminal or is invisible. Joiners and text/emoji selectors are
// allowed, because some scripts and emoji need them.
func isHiddenRune(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d' || r == '\ufe0e' || r == '\ufe0f' ||
		r >= '\u180b' && r <= '\u180d' || r == '\u180f':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector) || r == utf8.RuneError
}

// foldLetters normalizes a text to the letters that programs search for. It replaces wide, bold and joined forms, and
// removes invisible characters.
func foldLetters(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Pd, r):
			return '-'
		}
		return r
	}, norm.NFKC.String(s))
}

// judgeMessage returns an error for a message with commands for a terminal, a forge or a CI server. may lists the
// people whose sign-off is allowed.
func judgeMessage(commit Commit, may ...Person) error {
	refuse := func(what, reason, fix string) error {
		return company.E(company.EObjects, fmt.Sprintf("the message of commit %s %s", commit.OID.Short(), what)).
			Because(reason).
			Fix(fix + " (git commit --amend, or git rebase --exec for an older one), and push again")
	}
	if index := strings.IndexFunc(commit.Message, isHiddenRune); index >= 0 {
		r, _ := utf8.DecodeRuneInString(commit.Message[index:])
		return refuse(
			fmt.Sprintf("has an invisible character (U+%04X, line %d)", r,
				1+strings.Count(commit.Message[:index], "\n")),
			"it could control a reader's terminal, or hide text in it", "use visible characters")
	}
	text := foldLetters(commit.Message)
	if m := skipWords(text); m != "" {
		return refuse(fmt.Sprintf("says %q", m), "servers at the origin would not test the commit then",
			"remove those words")
	}
	if m := closingWords(text); m != "" {
		return refuse(fmt.Sprintf("says %q", m),
			"the forge would close that issue when the commit is merged, which people decide",
			"name the issue without that verb, or leave it out")
	}
	// A line that continues on an indented one is a single trailer.
	for _, text := range []string{text, foldedRE.ReplaceAllString(text, " ")} {
		for _, m := range vouchRE.FindAllStringSubmatch(text, -1) {
			if namesPerson(m) && !isAllowedSigner(m[2], may) {
				return refuse(fmt.Sprintf("says %q", truncateRunes(strings.TrimSpace(m[0]), 120)), "only that person may say so",
					"remove the line: sign-offs are added automatically")
			}
		}
	}
	return nil
}

var foldedRE = lazyregexp.New(`\n[ \t]+`)

// skipWords returns the text's mark that keeps CI servers from testing a commit, or "".
func skipWords(text string) string {
	for _, m := range bracketRE.FindAllString(text, -1) {
		if isSkipMarker(m) {
			return m
		}
	}
	return strings.TrimSpace(noCIRE.FindString(text) + skipTrailerRE.FindString(text))
}

// isSkipMarker reports whether a text in brackets tells a server to skip its work: "skip ci", "ci-skip", "no tests",
// "travis ci skip".
func isSkipMarker(bracket string) bool {
	words := strings.FieldsFunc(strings.ToLower(bracket),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 1 {
		for _, cut := range []func(string, string) (string, bool){strings.CutPrefix, strings.CutSuffix} {
			for _, verb := range []string{"skip", "no"} {
				if rest, ok := cut(words[0], verb); ok && ciWordRE.MatchString(rest) {
					return true
				}
			}
		}
		return false
	}
	n := len(words)
	return n > 1 && ((words[0] == "skip" || words[0] == "no") && ciWordRE.MatchString(words[1]) ||
		words[n-1] == "skip" && ciWordRE.MatchString(words[n-2]) ||
		words[1] == "skip" && ciWordRE.MatchString(words[0]))
}

// closingWords returns the phrase in a text that makes a forge or tracker change an issue, or "".
func closingWords(text string) string {
	for _, m := range closeRE.FindAllStringSubmatch(text, -1) {
		if !standardRE.MatchString(m[1]) {
			return strings.TrimSpace(m[0])
		}
	}
	for _, m := range commandRE.FindAllStringSubmatch(text, -1) {
		if !standardRE.MatchString(m[1]) {
			return m[0]
		}
	}
	return ""
}

// namesPerson reports whether a match of vouchRE names a person: it has an address, or the trailer is only used for
// people.
func namesPerson(m []string) bool {
	return strings.Contains(m[2], "@") || ownWordsRE.MatchString(m[1])
}

func isAllowedSigner(who string, may []Person) bool {
	name, mail, ok := strings.Cut(strings.TrimSpace(who), " <")
	for _, p := range may {
		if ok && p.Name != "" && p.equalTo(Person{Name: name, Email: strings.TrimSuffix(mail, ">")}) {
			return true
		}
	}
	return false
}

func truncateRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// inertMessage removes from a text everything that judgeMessage refuses, for a message of our own, since a title may
// come from a model. The named issues and people stay readable.
func inertMessage(s string) string {
	s = strings.Map(func(r rune) rune {
		if isHiddenRune(r) {
			return -1
		}
		return r
	}, s)
	if judgeMessage(Commit{Message: s}) == nil {
		return s
	}
	s = foldLetters(s)
	for range 4 { // a removal may join two halves of another match
		s = bracketRE.ReplaceAllStringFunc(s, func(m string) string {
			if isSkipMarker(m) {
				return strings.Trim(m, "[]")
			}
			return m
		})
		s = noCIRE.ReplaceAllStringFunc(s, func(m string) string { return strings.Trim(m, "*") })
		s = skipTrailerRE.ReplaceAllStringFunc(s, func(m string) string { return strings.Replace(m, ":", "", 1) })
		s = closeRE.ReplaceAllStringFunc(s, func(m string) string {
			sub := closeRE.FindStringSubmatch(m)
			if standardRE.MatchString(sub[1]) {
				return m
			}
			return strings.TrimSuffix(m, sub[1]) + "(" + sub[1] + ")"
		})
		s = vouchRE.ReplaceAllStringFunc(s, func(m string) string {
			if namesPerson(vouchRE.FindStringSubmatch(m)) {
				return "> " + strings.TrimSpace(m)
			}
			return m
		})
		s = commandRE.ReplaceAllStringFunc(
			s, func(m string) string { return strings.NewReplacer("#", "", "^", "").Replace(m) })
		if judgeMessage(Commit{Message: s}) == nil {
			return s
		}
	}
	return strings.Map(func(r rune) rune { // without punctuation there are no commands
		if r == '\n' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return ' '
	}, s)
}
