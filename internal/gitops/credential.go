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
	"company/internal/gitops/gitlogin"
	"company/internal/lib/secret"
)

// Credential returns the user name and secret that a host accepts over https. It is called each time git has to log
// in, so that expired secrets are renewed. host includes the port if it is not the default. An empty secret or an
// error means that there is none; the error explains how to get one.
type Credential func(ctx context.Context, host string) (user, secret string, err error)

type remoteKey struct{}

// RemoteOf returns the address of the remote that a Credential is requested for. Some logins, such as a GitHub App's,
// apply to one repository.
func RemoteOf(ctx context.Context) string {
	s, _ := ctx.Value(remoteKey{}).(string)
	return s
}

// WithRemote returns a context with the address for RemoteOf.
func WithRemote(ctx context.Context, remote string) context.Context {
	return context.WithValue(ctx, remoteKey{}, remote)
}

// helperScript is git's credential helper. It passes git's question to the process that started git (descriptor 3)
// and prints the answer (descriptor 4), so that the secret is in no argument, environment or file. It does not store
// or erase secrets.
const helperScript = `#!/bin/sh
# written by company; see the documentation of internal/gitops
[ "$1" = get ] || exit 0
{ cat && echo end; } >&3 || exit 0
while IFS= read -r line <&4 && [ -n "$line" ]; do printf '%s\n' "$line"; done
`

// maxQuestion limits the request of a credential helper, in bytes.
const maxQuestion = 16 << 10

// credentialServer answers the credential requests of one git process. It belongs to one call.
type credentialServer struct {
	ask, answer *os.File // git's ends, as descriptors 3 and 4
	ours        []*os.File
	wg          sync.WaitGroup
	stop        context.CancelFunc
}

// openCredentialServer starts a server. Call closeGits once git has its descriptors, and close when git has ended.
func (a *remoteEndpoint) openCredentialServer(ctx context.Context) (*credentialServer, error) {
	askR, askW, err := os.Pipe()
	if err != nil {
		return nil, company.E(company.EGit, "cannot pass the credential to git").Wrap(err)
	}
	answerR, answerW, err := os.Pipe()
	if err != nil {
		_ = errors.Join(askR.Close(), askW.Close())
		return nil, company.E(company.EGit, "cannot pass the credential to git").Wrap(err)
	}
	ctx, stop := context.WithCancel(ctx)
	server := &credentialServer{ask: askW, answer: answerR, ours: []*os.File{askR, answerW}, stop: stop}
	wake := context.AfterFunc(ctx, func() { _ = askR.SetDeadline(time.Now()) })
	server.wg.Go(func() {
		defer wake()
		reader := bufio.NewReader(io.LimitReader(askR, maxQuestion))
		for {
			question, err := readQuestion(reader)
			if err != nil {
				return // git has ended, or was stopped
			}
			if _, err := io.WriteString(answerW, a.answerCredential(ctx, question)+"\n"); err != nil {
				return
			}
		}
	})
	return server, nil
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
func readQuestion(reader *bufio.Reader) (map[string]string, error) {
	q := map[string]string{}
	for {
		line, err := reader.ReadString('\n')
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

// answerCredential returns the answer to one request as lines, or "". A server that redirects to another host gets no
// secret, because it is only for the host that the operator named.
func (a *remoteEndpoint) answerCredential(ctx context.Context, q map[string]string) string {
	if q["protocol"] != a.protocols || !strings.EqualFold(q["host"], a.host) {
		a.asked = authError(fmt.Sprintf("%s wants to log in at %s", a.host, Mask(q["host"]))).
			Because("the credential is only for " + a.host + "").Fix("see the address of the remote: git remote -v")
		return ""
	}
	login, err := a.findLogin(ctx)
	user, password := login.User, login.Secret.Reveal()
	switch {
	case err != nil:
		a.asked = err
		return ""
	case password == "":
		a.asked = authError("there is no credential for " + a.host).Because("the server asks for one" + a.lackOfLogins()).
			Fix(a.s.howToLogin(a.url))
		return ""
	case strings.ContainsAny(user+password, "\n\r\x00"):
		a.asked = authError("invalid credential for " + a.host + "").Because("it has a line break in it").
			Fix("set it again, without the line break")
		return ""
	}
	a.given = login
	return "username=" + user + "\npassword=" + password + "\n"
}

// findLogin returns the login for the host: from the address, else a token, else the president's own. A zero login
// means that there is none.
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

// findToken requests the token of the host.
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
		user = "x-access-token" // the forges ignore the user name
		if strings.EqualFold(a.host, "bitbucket.org") {
			user = "x-token-auth"
		}
	}
	return gitlogin.Login{User: user, Secret: secret.New(token)}, nil
}

// howToLogin explains how to fix a missing credential for a remote.
func (s *Store) howToLogin(remote string) string {
	if s.cfg.Method != ByToken {
		return "git.credential is " + s.cfg.Method +
			", which is for ssh: use the remote's ssh address, or git.credential: token"
	}
	if s.cfg.TokenFix != nil {
		return s.cfg.TokenFix(remote)
	}
	return "export GITHUB_TOKEN=…, or use git.credential: ssh_agent with an ssh address, or company config set --user " +
		"git.use_my_logins true"
}

// authError returns an error that a person must fix. Retrying is useless (GIT-6).
func authError(message string) *company.Error {
	return company.E(company.EAuth, message).NeedsPerson()
}

// checkKey returns an error if the deploy key is missing or readable by others.
func (s *Store) checkKey() error {
	p := s.cfg.DeployKey
	if p == "" {
		return authError("there is no deploy key").
			Because("git.credential is deploy_key, but no git.deploy_key_file is set").
			Fix("set git.deploy_key_file to the path of the private key")
	}
	fi, err := os.Stat(p)
	if err != nil {
		return authError("cannot read the deploy key").Wrap(err).Fix("correct git.deploy_key_file")
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	switch {
	case !fi.Mode().IsRegular():
		return authError("the deploy key " + p + " is not a file").Fix("correct git.deploy_key_file")
	case fi.Mode().Perm()&0o077 != 0:
		return authError("the deploy key " + p + " can be read by others").
			Because(fmt.Sprintf("its mode is %04o", fi.Mode().Perm())).Fix("chmod 600 " + p)
	case ok && int(st.Uid) != os.Geteuid():
		return authError("the deploy key " + p + " belongs to another user").
			Because(fmt.Sprintf("its owner is user %d", st.Uid)).Fix("use a key of your own")
	}
	return nil
}

// checkAgent returns an error if the ssh agent is missing.
func (s *Store) checkAgent() error {
	if s.cfg.AgentSocket == "" {
		return authError("there is no ssh agent").Because("git.credential is ssh_agent, but SSH_AUTH_SOCK is NOT SET").
			Fix("eval $(ssh-agent) && ssh-add, or set git.credential: token or deploy_key")
	}
	if fi, err := os.Stat(s.cfg.AgentSocket); err != nil || fi.Mode()&os.ModeSocket == 0 {
		return authError("the ssh agent does not answer").Because("SSH_AUTH_SOCK is not a socket").Wrap(err).
			Fix("eval $(ssh-agent) && ssh-add")
	}
	return nil
}

// HostOf returns the host of a remote's address, with the port if it has one. It returns "" for a path.
func HostOf(remote string) string {
	if strings.Contains(remote, "://") {
		address, err := url.Parse(remote)
		if err != nil {
			return ""
		}
		return address.Host
	}
	if strings.HasPrefix(remote, "/") || !scpLike(remote) {
		return ""
	}
	host, _, _ := strings.Cut(remote, ":")
	host = cutUser(host)
	return host
}
