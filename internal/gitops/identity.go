package gitops

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/lib/lazyregexp"
)

// Methods of signing the host's commits (git.sign).
const (
	SignNone = "none"
	SignSSH  = "ssh"
	SignGPG  = "gpg"
)

// Identity is the required identity of commits that the host did not make.
type Identity struct {
	Person
	Signoff bool // each commit must have the person's sign-off
}

// String returns the person as git writes it.
func (p Person) String() string { return fmt.Sprintf("%s <%s>", oneLine(p.Name), oneLine(p.Email)) }

// equalTo compares two people as git would write them, because git strips certain characters from the ends of names.
func (p Person) equalTo(q Person) bool {
	return trimName(p.Name) == trimName(q.Name) && trimName(p.Email) == trimName(q.Email)
}

func trimName(s string) string {
	return strings.Trim(strings.NewReplacer("<", "", ">", "", "\n", "").Replace(oneLine(s)), " .,:;\"\\'")
}

// signOffLine returns the line of a sign-off.
func (p Person) signOffLine() string { return "Signed-off-by: " + p.String() }

// headersRE matches the headers that git writes before a commit's message. Programs read other headers differently.
// Some take a second author as the author, an encoding changes the message's letters, and a signature or the tag of a
// merge contains its own text.
var headersRE = lazyregexp.New(
	`^tree [0-9a-f]+\n(?:parent [0-9a-f]+\n)*author [^<>\n]+ <[^<>\n]*> [0-9]+ [+-][0-9]{4}\ncommitter [^<>\n]+ <[^<>\n]*> [0-9]+ [+-][0-9]{4}$`)

// judgeHeaders returns an error for a new commit with other headers than git's usual ones, or with names that contain
// invisible or terminal control characters.
func judgeHeaders(commit Commit) error {
	head, _, _ := strings.Cut(commit.Raw, "\n\n")
	if strings.ContainsFunc(commit.Author.Name+commit.Author.Email+commit.Committer.Name+commit.Committer.Email,
		isHiddenRune) {
		return company.E(company.EObjects,
			fmt.Sprintf("the commit %s has an author or a committer with an invisible character", commit.OID.Short())).
			Because("it could control a reader's terminal, or hide text in it").
			Fix("make it yours: git commit --amend --no-edit --reset-author, and push again")
	}
	if headersRE.MatchString(head) {
		return nil
	}
	return company.E(company.EObjects,
		fmt.Sprintf("the commit %s has more than a tree, parents, one author and one committer before its message",
			commit.OID.Short())).
		Because("a signature, an encoding, a merged tag or a second author reads differently at the origin").
		Fix("recreate it with git commit, without --gpg-sign and without i18n.commitEncoding: git reset --soft to the one " +
			"before it, then commit again and push")
}

// checkCommit returns why a commit does not have the run's identity, or nil.
func (id Identity) checkCommit(commit Commit) error {
	for _, who := range []struct {
		as string
		by Person
	}{{"author", commit.Author}, {"committer", commit.Committer}} {
		if !who.by.equalTo(id.Person) {
			return company.E(company.EObjects,
				fmt.Sprintf("the commit %s has the %s %q, but must have %q", commit.OID.Short(), who.as, who.by,
					id.Person)).
				Fix("make it yours: git commit --amend --no-edit --reset-author; for several commits: git reset --soft to the " +
					"one before them, then commit again")
		}
	}
	if id.Signoff && !signedOff(commit.Message, id.Person) {
		return company.E(company.EObjects, fmt.Sprintf("the commit %s has no line %q", commit.OID.Short(), id.signOffLine())).
			Fix("add it: git commit --amend --no-edit --signoff; for several commits: git reset --soft to the one before " +
				"them, then commit again")
	}
	return nil
}

// signedOff reports whether the last paragraph of a message contains the person's sign-off.
func signedOff(message string, person Person) bool {
	last := message[strings.LastIndex(strings.TrimRight(message, "\n"), "\n\n")+1:]
	for line := range strings.SplitSeq(last, "\n") {
		name, mail, ok := strings.Cut(strings.TrimPrefix(line, "Signed-off-by: "), " <")
		if ok && strings.HasPrefix(line, "Signed-off-by: ") &&
			person.equalTo(Person{Name: name, Email: strings.TrimSuffix(mail, ">")}) {
			return true
		}
	}
	return false
}

// signOff adds a person's sign-off to a message unless it has it.
func signOff(message string, person Person) string {
	if signedOff(message, person) {
		return message
	}
	message = strings.TrimRight(message, "\n")
	last := message[strings.LastIndexByte(message, '\n')+1:]
	key, _, ok := strings.Cut(last, ": ")
	if ok && strings.Contains(message, "\n\n") && (strings.HasSuffix(key, "-by") || key == TicketTrailer) &&
		!strings.Contains(key, " ") {
		return message + "\n" + person.signOffLine() + "\n"
	}
	return message + "\n\n" + person.signOffLine() + "\n"
}

// signOptions returns the arguments, settings and environment with which git commit-tree signs.
func (s *Store) signOptions() (args []string, config []gitexec.Setting, env []string) {
	switch s.cfg.Sign {
	case SignSSH:
		config = []gitexec.Setting{{"gpg.format", "ssh"}, {"user.signingkey", s.cfg.SigningKey},
			{"gpg.ssh.program", "ssh-keygen"}, {"gpg.ssh.defaultKeyCommand", ""}}
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
	// No passphrase is prompted for: an agent has it, or signing fails.
	return []string{"-S"}, config, append(env, "SSH_ASKPASS=/bin/false", "SSH_ASKPASS_REQUIRE=force")
}

// notSigned returns the error for a commit that could not be signed.
func (s *Store) notSigned(r result) error {
	fix := "see that ssh-keygen can sign with git.signing_key " + s.cfg.SigningKey +
		" and no passphrase, or put the key into the ssh agent and name its public half"
	if s.cfg.Sign == SignGPG {
		fix = "see that this works here: echo | gpg -bsau " + s.cfg.SigningKey
	}
	return company.E(company.EGit, "cannot sign a commit").Because(r.failureReason()).
		Fix(fix + "; or set git.sign: none").NeedsPerson()
}
