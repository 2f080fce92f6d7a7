package gitops

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/gitlogin"
	"company/internal/secret"
)

// Credential gives what a host takes over https: a user name and a secret.
// It is asked each time git has to log in, so that what expires is renewed;
// host has its port where that is not the protocol's own. An empty secret, or
// an error, means that there is none; the error says how to get one.
type Credential func(ctx context.Context, host string) (user, secret string, err error)

type remoteKey struct{}

// RemoteOf is the address of the remote that a Credential is asked for: some
// logins, as a GitHub App's, are of one repository.
func RemoteOf(ctx context.Context) string {
	s, _ := ctx.Value(remoteKey{}).(string)
	return s
}

// WithRemote is a context that RemoteOf tells the address of.
func WithRemote(ctx context.Context, remote string) context.Context {
	return context.WithValue(ctx, remoteKey{}, remote)
}

// helperScript is git's credential helper. It passes git's question on to the
// process that started git (descriptor 3) and prints the answer (descriptor
// 4), so that the secret is in no argument, no environment, no file. Nothing
// is stored or erased.
const helperScript = `#!/bin/sh
# written by company; see the documentation of internal/gitops
[ "$1" = get ] || exit 0
{ cat && echo end; } >&3 || exit 0
while IFS= read -r line <&4 && [ -n "$line" ]; do printf '%s\n' "$line"; done
`

// maxQuestion bounds what a credential helper may ask with, in bytes.
const maxQuestion = 16 << 10

// credentialServer answers the questions of one git process. It belongs to the
// call.
type credentialServer struct {
	ask, answer *os.File // git's ends, as descriptors 3 and 4
	ours        []*os.File
	wg          sync.WaitGroup
	stop        context.CancelFunc
}

// openCredentialServer starts answering. closeGits is to be called once git has its
// descriptors, close when git has ended.
func (a *remoteEndpoint) openCredentialServer(ctx context.Context) (*credentialServer, error) {
	askR, askW, err := os.Pipe()
	if err != nil {
		return nil, company.E(company.EGit, "git cannot be given its credential").Wrap(err)
	}
	answerR, answerW, err := os.Pipe()
	if err != nil {
		_ = errors.Join(askR.Close(), askW.Close())
		return nil, company.E(company.EGit, "git cannot be given its credential").Wrap(err)
	}
	ctx, stop := context.WithCancel(ctx)
	d := &credentialServer{ask: askW, answer: answerR, ours: []*os.File{askR, answerW}, stop: stop}
	wake := context.AfterFunc(ctx, func() { _ = askR.SetDeadline(time.Now()) })
	d.wg.Go(func() {
		defer wake()
		in := bufio.NewReader(io.LimitReader(askR, maxQuestion))
		for {
			question, err := readQuestion(in)
			if err != nil {
				return // git has ended, or was stopped
			}
			if _, err := io.WriteString(answerW, a.answerCredential(ctx, question)+"\n"); err != nil {
				return
			}
		}
	})
	return d, nil
}

func (d *credentialServer) closeGits() { _ = errors.Join(d.ask.Close(), d.answer.Close()) }

func (d *credentialServer) close() {
	d.stop()
	d.wg.Wait()
	for _, f := range d.ours {
		_ = f.Close()
	}
}

// readQuestion reads git's key=value lines up to the helper's "end".
func readQuestion(in *bufio.Reader) (map[string]string, error) {
	q := map[string]string{}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line = strings.TrimSuffix(line, "\n"); line == "end" {
			return q, nil
		}
		if k, v, ok := strings.Cut(line, "="); ok {
			q[k] = v
		}
	}
}

// answerCredential is the answer to one question, in lines, or nothing. A server that
// redirects to another host gets nothing: the secret is for the host that the
// operator named.
func (a *remoteEndpoint) answerCredential(ctx context.Context, q map[string]string) string {
	if q["protocol"] != a.protocols || !strings.EqualFold(q["host"], a.host) {
		a.asked = authError(fmt.Sprintf("%s wants to log in at %s", a.host, Mask(q["host"]))).
			Because("the credential is for " + a.host + " alone").Fix("see the address of the remote: git remote -v")
		return ""
	}
	login, err := a.findLogin(ctx)
	user, password := login.User, login.Secret.Reveal()
	switch {
	case err != nil:
		a.asked = err
		return ""
	case password == "":
		a.asked = authError("there is no credential for " + a.host).Because("it asks for one" + a.lackOfLogins()).Fix(a.s.howToLogin(a.url))
		return ""
	case strings.ContainsAny(user+password, "\n\r\x00"):
		a.asked = authError("the credential for " + a.host + " cannot be used").Because("it has a line break in it").Fix("set it again, without the line break")
		return ""
	}
	a.given = login
	return "username=" + user + "\npassword=" + password + "\n"
}

// findLogin returns the login for the host: that of the address, then a token, then
// the president's own. The zero login: there is none.
func (a *remoteEndpoint) findLogin(ctx context.Context) (gitlogin.Login, error) {
	if a.secret != "" { // the operator wrote it into the address
		return gitlogin.Login{User: a.user, Secret: secret.New(a.secret)}, nil
	}
	login, err := a.findToken(ctx)
	if a.own == nil || login.Secret.Set() || err != nil && !errors.As(err, new(noTokenError)) {
		return login, err
	}
	own, ownErr := a.findOwnLogin(ctx)
	if ownErr == nil && !own.Secret.Set() {
		return own, addLack(err, a.lackOfLogins())
	}
	return own, ownErr
}

// findToken asks for the token of the host.
func (a *remoteEndpoint) findToken(ctx context.Context) (gitlogin.Login, error) {
	if a.s.cfg.Credential == nil || a.s.cfg.Method != ByToken {
		return gitlogin.Login{}, nil
	}
	user, token, err := a.s.cfg.Credential(WithRemote(ctx, a.url), a.host)
	if err != nil {
		var e *company.Error
		if !errors.As(err, &e) {
			err = authError("there is no credential for " + a.host).Wrap(err).Fix(a.s.howToLogin(a.url))
		}
		return gitlogin.Login{}, err
	}
	user = cmp.Or(user, a.user)
	if user == "" {
		user = "x-access-token" // the forges look at the token alone
		if strings.EqualFold(a.host, "bitbucket.org") {
			user = "x-token-auth"
		}
	}
	return gitlogin.Login{User: user, Secret: secret.New(token)}, nil
}

// howToLogin is the fix where no credential for a remote is there.
func (s *Store) howToLogin(remote string) string {
	if s.cfg.Method != ByToken {
		return "git.credential is " + s.cfg.Method + ", which is for ssh: use the remote's ssh address, or git.credential: token"
	}
	if s.cfg.TokenFix != nil {
		return s.cfg.TokenFix(remote)
	}
	return "export GITHUB_TOKEN=…, or use git.credential: ssh_agent with an ssh address, or company config set --user git.use_my_logins true"
}

// authError is a refusal that a person has to mend; trying again is of no use
// (GIT-6).
func authError(message string) *company.Error {
	return company.E(company.EAuth, message).NeedsPerson()
}

// checkKey refuses a deploy key that others can read, or that is not there.
func (s *Store) checkKey() error {
	p := s.cfg.DeployKey
	if p == "" {
		return authError("there is no deploy key").Because("git.credential is deploy_key, and no file is named").
			Fix("set git.deploy_key_file to the path of the private key")
	}
	fi, err := os.Stat(p)
	if err != nil {
		return authError("the deploy key cannot be read").Wrap(err).Fix("correct git.deploy_key_file")
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	switch {
	case !fi.Mode().IsRegular():
		return authError("the deploy key " + p + " is not a file").Fix("correct git.deploy_key_file")
	case fi.Mode().Perm()&0o077 != 0:
		return authError("the deploy key " + p + " can be read by others").Because(fmt.Sprintf("its mode is %04o", fi.Mode().Perm())).Fix("chmod 600 " + p)
	case ok && int(st.Uid) != os.Geteuid():
		return authError("the deploy key " + p + " belongs to another user").Because(fmt.Sprintf("its owner is user %d", st.Uid)).Fix("use a key of your own")
	}
	return nil
}

// checkAgent refuses an agent that is not there.
func (s *Store) checkAgent() error {
	if s.cfg.AgentSocket == "" {
		return authError("there is no ssh agent").Because("git.credential is ssh_agent, and SSH_AUTH_SOCK is NOT SET").
			Fix("eval $(ssh-agent) && ssh-add, or set git.credential: token or deploy_key")
	}
	if fi, err := os.Stat(s.cfg.AgentSocket); err != nil || fi.Mode()&os.ModeSocket == 0 {
		return authError("the ssh agent does not answer").Because("SSH_AUTH_SOCK is no socket").Wrap(err).Fix("eval $(ssh-agent) && ssh-add")
	}
	return nil
}

// HostOf is the host of a remote's address, with its port where it has one;
// empty for a path.
func HostOf(remote string) string {
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil {
			return ""
		}
		return u.Host
	}
	if strings.HasPrefix(remote, "/") || !scpLike(remote) {
		return ""
	}
	host, _, _ := strings.Cut(remote, ":")
	host = cutUser(host)
	return host
}
