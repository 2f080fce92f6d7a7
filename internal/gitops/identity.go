package gitops

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/gitexec"
	"company/internal/lazyregexp"
)

// Ways to sign what the host commits (git.sign).
const (
	SignNone = "none"
	SignSSH  = "ssh"
	SignGPG  = "gpg"
)

// Identity is what commits that are not the host's own are held to.
type Identity struct {
	Person
	Signoff bool // each commit carries the sign-off of the person
}

// String is the person as git writes it.
func (p Person) String() string { return fmt.Sprintf("%s <%s>", oneLine(p.Name), oneLine(p.Email)) }

// equalTo compares two people as git would have written them: it takes certain
// characters off the ends of names.
func (p Person) equalTo(q Person) bool {
	return trimName(p.Name) == trimName(q.Name) && trimName(p.Email) == trimName(q.Email)
}

func trimName(s string) string {
	return strings.Trim(strings.NewReplacer("<", "", ">", "", "\n", "").Replace(oneLine(s)), " .,:;\"\\'")
}

// signOffLine is the line of a sign-off.
func (p Person) signOffLine() string { return "Signed-off-by: " + p.String() }

// headersRE is what git writes before the message of a commit: anything else
// is read by some and not by others. A second author is one to a program that
// takes the last; an encoding gives the message other letters; a signature and
// the tag of a merge carry text of their own.
var headersRE = lazyregexp.New(`^tree [0-9a-f]+\n(?:parent [0-9a-f]+\n)*author [^<>\n]+ <[^<>\n]*> [0-9]+ [+-][0-9]{4}\ncommitter [^<>\n]+ <[^<>\n]*> [0-9]+ [+-][0-9]{4}$`)

// judgeHeaders refuses a new commit that has more before its message than git
// writes by itself, or names that steer a terminal.
func judgeHeaders(c Commit) error {
	head, _, _ := strings.Cut(c.Raw, "\n\n")
	if strings.ContainsFunc(c.Author.Name+c.Author.Email+c.Committer.Name+c.Committer.Email, isHiddenRune) {
		return company.E(company.EObjects, fmt.Sprintf("the commit %s has an author or a committer with a character that does not show", c.OID.Short())).
			Because("it would steer a reader's terminal, or hide text in it").Fix("make it yours: git commit --amend --no-edit --reset-author, and push again")
	}
	if headersRE.MatchString(head) {
		return nil
	}
	return company.E(company.EObjects, fmt.Sprintf("the commit %s has more than a tree, parents, one author and one committer before its message", c.OID.Short())).
		Because("a signature, an encoding, a merged tag or a second author reads differently at the origin").
		Fix("make it anew with git commit, without --gpg-sign and without i18n.commitEncoding: git reset --soft to the one before it, then commit again and push")
}

// checkCommit says why a commit is not in the run's name, or nil.
func (id Identity) checkCommit(c Commit) error {
	for _, who := range []struct {
		as string
		by Person
	}{{"author", c.Author}, {"committer", c.Committer}} {
		if !who.by.equalTo(id.Person) {
			return company.E(company.EObjects, fmt.Sprintf("the commit %s has the %s %q, and what you do is in the name of %q", c.OID.Short(), who.as, who.by, id.Person)).
				Fix("make it yours: git commit --amend --no-edit --reset-author; for several commits: git reset --soft to the one before them, then commit again")
		}
	}
	if id.Signoff && !signedOff(c.Message, id.Person) {
		return company.E(company.EObjects, fmt.Sprintf("the commit %s has no line %q", c.OID.Short(), id.signOffLine())).
			Fix("add it: git commit --amend --no-edit --signoff; for several commits: git reset --soft to the one before them, then commit again")
	}
	return nil
}

// signedOff reports whether a message has the person's sign-off among its
// last lines.
func signedOff(message string, p Person) bool {
	last := message[strings.LastIndex(strings.TrimRight(message, "\n"), "\n\n")+1:]
	for line := range strings.SplitSeq(last, "\n") {
		name, mail, ok := strings.Cut(strings.TrimPrefix(line, "Signed-off-by: "), " <")
		if ok && strings.HasPrefix(line, "Signed-off-by: ") && p.equalTo(Person{Name: name, Email: strings.TrimSuffix(mail, ">")}) {
			return true
		}
	}
	return false
}

// signOff adds the sign-off of a person to a message, once.
func signOff(message string, p Person) string {
	if signedOff(message, p) {
		return message
	}
	message = strings.TrimRight(message, "\n")
	last := message[strings.LastIndexByte(message, '\n')+1:]
	key, _, ok := strings.Cut(last, ": ")
	if ok && strings.Contains(message, "\n\n") && (strings.HasSuffix(key, "-by") || key == TicketTrailer) && !strings.Contains(key, " ") {
		return message + "\n" + p.signOffLine() + "\n"
	}
	return message + "\n\n" + p.signOffLine() + "\n"
}

// signOptions is what git commit-tree gets to sign with.
func (s *Store) signOptions() (args []string, config []gitexec.Setting, env []string) {
	switch s.cfg.Sign {
	case SignSSH:
		config = []gitexec.Setting{{"gpg.format", "ssh"}, {"user.signingkey", s.cfg.SigningKey}, {"gpg.ssh.program", "ssh-keygen"}, {"gpg.ssh.defaultKeyCommand", ""}}
	case SignGPG:
		config = []gitexec.Setting{{"gpg.format", "openpgp"}, {"user.signingkey", s.cfg.SigningKey}, {"gpg.program", "gpg"}}
		if s.cfg.GPGHome != "" {
			env = append(env, "GNUPGHOME="+s.cfg.GPGHome)
		}
	default:
		return nil, nil, nil
	}
	if s.cfg.AgentSocket != "" {
		env = append(env, "SSH_AUTH_SOCK="+s.cfg.AgentSocket)
	}
	// No passphrase is asked for: an agent has it, or signing fails.
	return []string{"-S"}, config, append(env, "SSH_ASKPASS=/bin/false", "SSH_ASKPASS_REQUIRE=force")
}

// notSigned explains a commit that could not be signed.
func (s *Store) notSigned(r result) error {
	fix := "see that ssh-keygen can sign with git.signing_key " + s.cfg.SigningKey + " and no passphrase, or put the key into the ssh agent and name its public half"
	if s.cfg.Sign == SignGPG {
		fix = "see that this works here: echo | gpg -bsau " + s.cfg.SigningKey
	}
	return company.E(company.EGit, "a commit could not be signed").Because(r.failureReason()).Fix(fix + "; or set git.sign: none").NeedsPerson()
}
