package gitops

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/lib/lazyregexp"

	"golang.org/x/text/unicode/norm"
)

const (
	maxSlug    = 48  // characters of a branch's description; the pre-receive hook allows 64
	maxSubject = 200 // characters of a commit's first line
)

// BranchName returns the branch of a ticket: agent/<ticket>-<slug of title>. It is a valid reference for every input
// and matches ^agent/<ticket>-[a-z0-9._-]{1,64}$ for every valid ticket.
func BranchName(ticket, title string) string {
	t := toSlug(ticket, maxSlug)
	t = cmp.Or(t, "ticket")
	d := toSlug(title, maxSlug)
	d = cmp.Or(d, "work")
	return "agent/" + t + "-" + d
}

// toSlug keeps the letters and digits of s as lower case ASCII, with single dashes between them. It removes accents
// and keeps their letters.
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
		case unicode.Is(unicode.Mn, r): // an accent that NFKD separated from its letter
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

// CommitMessage returns "[<ticket>] <description>", with the first line of desc as subject and the rest as body. It
// contains no control characters but newline and tab. The subject is never empty. For any desc, it contains no
// commands for forges and CI servers.
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

// TicketTrailer is the key of the trailer that names the ticket of a squashed commit.
const TicketTrailer = "Ticket"

// wrapWidth is the maximum line length of a message's body, in characters. Text without blanks may be longer.
const wrapWidth = 72

// SquashMessage returns the message of a ticket's squashed commit: the subject, the wrapped body, and the ticket as a
// trailer. Like CommitMessage it contains no commands for any input, and it mentions no person.
func SquashMessage(ticket, subject, body string) string {
	text := strings.TrimSpace(
		inertMessage(stripControl(strings.Join(strings.Fields(subject), " ") + "\n\n" + wrapText(body, wrapWidth))))
	text = ticketTrailerRE.ReplaceAllString(text, "> $0") // a trailer that a model wrote
	text = calledRE.ReplaceAllString(text, "$1@ $2")      // no reviewer has read this message
	return text + "\n\n" + TicketTrailer + ": " + strings.Join(strings.Fields(stripControl(ticket)), " ") + "\n"
}

// calledRE matches mentions of a person or team that a forge would notify.
var calledRE = lazyregexp.New(`(?m)(^|[^\w.+/@-])@([A-Za-z0-9])`)

var ticketTrailerRE = lazyregexp.New(`(?im)^[ \t]*` + TicketTrailer + `\s*:`)

// wrapText wraps lines at blanks to a number of characters. It indents list items. Indented and fenced lines stay
// unchanged because they are code.
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
			index := strings.LastIndexByte(head, ' ')
			if index <= len(indent) { // a long name is broken at the next blank
				if index = strings.IndexByte(line[len(indent):], ' '); index < 0 {
					break
				}
				index += len(indent)
			}
			out = append(out, strings.TrimRight(line[:index], " "))
			line = indent + strings.TrimLeft(line[index:], " ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// stripControl makes s valid UTF-8 and removes control characters except newline and tab. A carriage return becomes a
// newline.
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
	officeRE     = lazyregexp.New(`^[a-z2-7]{4}$`)
	taskBranchRE = lazyregexp.New(`^(.+)-t[0-9]+-[a-z2-7]{4}$`)
)

// IntegrationBranch returns the short name of a task's integration branch: <prefix>-<task>-<office>, e.g.
// develop-t12-k3fq. It fails with E_PROTECTED if the prefix is main or master, and with E_INVALID if it is malformed.
func IntegrationBranch(prefix string, task company.TaskID, office string) (string, error) {
	if err := company.CheckBranchPrefix(prefix); err != nil {
		return "", err
	}
	if !task.Valid() {
		return "", company.E(company.EInvalid, fmt.Sprintf("invalid task id %q", string(task)))
	}
	if !officeRE.MatchString(office) {
		return "", company.E(company.EInvalid, fmt.Sprintf("invalid office id %q", office)).
			Fix("it has four letters or digits of base32, such as k3fq")
	}
	return prefix + "-" + string(task) + "-" + office, nil
}

// isTaskBranch reports whether a branch has the form of an integration branch. It accepts any valid prefix, because
// the setting may have changed since the task began.
func isTaskBranch(branch string) bool {
	parts := taskBranchRE.FindStringSubmatch(branch)
	return parts != nil && company.CheckBranchPrefix(parts[1]) == nil
}

func protectedRefError(ref string) *company.Error {
	return company.E(company.EProtected, fmt.Sprintf("the company never moves %q", ref)).
		Because("it writes only its own branches, never main or master").
		Fix("set git.integration_branch to another name, such as develop")
}

// allowRef is the choke point (REV-1): it checks every reference that the company moves, here or at a remote.
func (s *Store) allowRef(ref string) error {
	if company.IsProtectedBranch(ref) || !validRef(ref) {
		return protectedRefError(ref)
	}
	p := s.cfg.IntegrationPrefix
	switch branch, isBranch := strings.CutPrefix(ref, "refs/heads/"); {
	case isBranch && (branch == p || strings.HasPrefix(branch, p+"-") || strings.HasPrefix(branch, "agent/") ||
		isTaskBranch(branch)):
		return nil
	case strings.HasPrefix(ref, "refs/company/"):
		return nil
	}
	return protectedRefError(ref)
}

// validRef reports whether ref is a full, well-formed reference name. It is stricter than git and allows only
// printable ASCII.
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
