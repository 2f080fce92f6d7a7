package gitops

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/lazyregexp"

	"golang.org/x/text/unicode/norm"
)

const (
	maxSlug    = 48  // characters of a branch's description; the pre-receive rule allows 64
	maxSubject = 200 // characters of a commit's first line
)

// BranchName is the branch of a ticket: agent/<ticket>-<slug of title>. It is
// a valid reference for every input and matches
// ^agent/<ticket>-[a-z0-9._-]{1,64}$ for every valid ticket.
func BranchName(ticket, title string) string {
	t := toSlug(ticket, maxSlug)
	t = cmp.Or(t, "ticket")
	d := toSlug(title, maxSlug)
	d = cmp.Or(d, "work")
	return "agent/" + t + "-" + d
}

// toSlug keeps the letters and digits of s, in lower case ASCII, with single
// dashes between runs of them. Accents are dropped with their letters kept.
func toSlug(s string, limit int) string {
	var b strings.Builder
	dash := false
	for _, r := range norm.NFKD.String(s) {
		r = unicode.ToLower(r)
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r): // an accent that NFKD took off its letter
		default:
			dash = true
		}
		if b.Len() >= limit {
			break
		}
	}
	out := b.String()
	return strings.Trim(out[:min(len(out), limit)], "-")
}

// CommitMessage is "[<ticket>] <description>": the first line of desc as the
// subject, the rest as the body. It has no NUL and no control characters but
// newline and tab, its subject is never empty, and it holds no command for
// forges and CI servers, whatever desc holds.
func CommitMessage(ticket, desc string) string {
	lines := strings.Split(strings.TrimSpace(inertMessage(stripControl(desc))), "\n")
	subject := strings.Join(strings.Fields(lines[0]), " ")
	subject = cmp.Or(subject, "work")
	if utf8.RuneCountInString(subject) > maxSubject {
		subject = strings.TrimSpace(string([]rune(subject)[:maxSubject-1])) + "…"
	}
	ticket = strings.Join(strings.Fields(stripControl(ticket)), " ")
	msg := fmt.Sprintf("[%s] %s", ticket, subject)
	if body := strings.TrimSpace(strings.Join(lines[1:], "\n")); body != "" {
		msg += "\n\n" + body
	}
	return msg + "\n"
}

// TicketTrailer is the key of the last lines of a squashed commit's message, with its ticket.
const TicketTrailer = "Company-Ticket"

// wrapWidth is the most characters of a line of a message's body, where its text has blanks.
const wrapWidth = 72

// SquashMessage is the message of the one commit of a ticket: the subject, the body, wrapped,
// and the ticket as a trailer. As CommitMessage it holds no command, whatever it is made of, and it calls
// no person by name.
func SquashMessage(ticket, subject, body string) string {
	text := strings.TrimSpace(inertMessage(stripControl(strings.Join(strings.Fields(subject), " ") + "\n\n" + wrapText(body, wrapWidth))))
	text = ticketTrailerRE.ReplaceAllString(text, "> $0") // one that a model wrote
	text = calledRE.ReplaceAllString(text, "$1@ $2")      // no reviewer has read this message
	return text + "\n\n" + TicketTrailer + ": " + strings.Join(strings.Fields(stripControl(ticket)), " ") + "\n"
}

// calledRE is where a forge would notify a person or a team of a name.
var calledRE = lazyregexp.New(`(?m)(^|[^\w.+/@-])@([A-Za-z0-9])`)

var ticketTrailerRE = lazyregexp.New(`(?im)^[ \t]*` + TicketTrailer + `\s*:`)

// wrapText breaks lines at blanks to a number of characters. Items of lists are indented;
// indented lines and those in a fence stay as they are: they are code.
func wrapText(text string, width int) string {
	var out []string
	fenced := false
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		line = strings.TrimRight(line, " \t\r")
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		if fence || fenced || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
			out = append(out, line)
			continue
		}
		indent := ""
		if rest := strings.TrimLeft(line, " "); strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "* ") {
			indent = strings.Repeat(" ", len(line)-len(rest)+2)
		}
		for utf8.RuneCountInString(line) > width {
			head := string([]rune(line)[:width+1])
			at := strings.LastIndexByte(head, ' ')
			if at <= len(indent) { // one long name: it ends at the next blank
				if at = strings.IndexByte(line[len(indent):], ' '); at < 0 {
					break
				}
				at += len(indent)
			}
			out = append(out, strings.TrimRight(line[:at], " "))
			line = indent + strings.TrimLeft(line[at:], " ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// stripControl makes s valid UTF-8 and drops control characters but newline and
// tab; a carriage return becomes a newline.
func stripControl(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
}

var (
	prefixRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)
	officeRE = lazyregexp.New(`^[a-z2-7]{4}$`)
)

// IntegrationBranch is the short name of a task's integration branch:
// <prefix>-<task>-<office>, e.g. develop-t12-k3fq. A prefix that is main or
// master is E_PROTECTED, a malformed one E_INVALID.
func IntegrationBranch(prefix string, task company.TaskID, office string) (string, error) {
	if err := checkPrefix(prefix); err != nil {
		return "", err
	}
	if !task.Valid() {
		return "", company.E(company.EInvalid, fmt.Sprintf("%q is not a task id", string(task)))
	}
	if !officeRE.MatchString(office) {
		return "", company.E(company.EInvalid, fmt.Sprintf("%q is not an office id", office)).Fix("it has four letters or digits of base32, such as k3fq")
	}
	return prefix + "-" + string(task) + "-" + office, nil
}

// checkPrefix refuses integration prefixes that are no plain name, and the
// branches that only a person may move.
func checkPrefix(prefix string) error {
	if isMain(prefix) {
		return protectedRefError(prefix)
	}
	if !prefixRE.MatchString(prefix) {
		return company.E(company.EInvalid, fmt.Sprintf("%q cannot be the name of an integration branch", prefix)).
			Fix("use letters, digits, - and _, for example git.integration_branch: develop")
	}
	return nil
}

// isMain reports whether a branch, by its short or full name, is one that only
// a person moves. Case is ignored: on some disks Main is main.
func isMain(branch string) bool {
	b := strings.ToLower(branch)
	for _, p := range []string{"refs/heads/", "heads/"} {
		b = strings.TrimPrefix(b, p)
	}
	return b == "main" || b == "master" || b == "head"
}

func protectedRefError(ref string) *company.Error {
	return company.E(company.EProtected, fmt.Sprintf("%q is not for the company to move", ref)).
		Because("it writes its own branches only, never main or master").
		Fix("set git.integration_branch to another name, such as develop")
}

// allowRef is the choke point (REV-1): every reference that the company moves,
// here or at a remote, has passed it.
func (s *Store) allowRef(ref string) error {
	if isMain(ref) || !validRef(ref) {
		return protectedRefError(ref)
	}
	p := s.cfg.IntegrationPrefix
	switch branch, isBranch := strings.CutPrefix(ref, "refs/heads/"); {
	case isBranch && (branch == p || strings.HasPrefix(branch, p+"-") || strings.HasPrefix(branch, "agent/")):
		return nil
	case strings.HasPrefix(ref, "refs/company/"):
		return nil
	}
	return protectedRefError(ref)
}

// validRef reports whether ref is a full, well-formed reference name. It is
// stricter than git: only printable ASCII.
func validRef(ref string) bool {
	if !strings.HasPrefix(ref, "refs/") || len(ref) > 255 ||
		strings.Contains(ref, "..") || strings.Contains(ref, "@{") || strings.HasSuffix(ref, ".") {
		return false
	}
	for _, r := range ref {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`~^:?*[\`, r) {
			return false
		}
	}
	for part := range strings.SplitSeq(ref, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}
