package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitlogin"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/retry"
)

// networkPause lists the waits between the attempts of a fetch (GIT-6). Each attempt gets a fresh credential.
var networkPause = []time.Duration{time.Second, 4 * time.Second}

// runWithRetry runs a call that reads from the remote. It does not retry errors that a person must fix.
func (a *remoteEndpoint) runWithRetry(ctx context.Context, c call) (r result, err error) {
	policy := retry.Policy{Next: func(try int, err error) (time.Duration, bool) {
		if a.once || a.host == "" || try >= len(networkPause) || company.NeedsPerson(err) {
			return 0, false
		}
		return networkPause[try], true
	}}
	err = policy.Do(ctx, func(int) (err error) {
		if r, err = a.runOnce(ctx, c); err == nil && r.exit != 0 {
			err = a.explainFailure(ctx, "read", r)
		}
		return err
	})
	return r, err
}

// runOnce runs one call at the remote and answers git's credential requests.
func (a *remoteEndpoint) runOnce(ctx context.Context, c call) (result, error) {
	a.asked, a.given = nil, gitlogin.Login{}
	r, err := a.s.run(ctx, c)
	if err == nil && r.exit == 0 {
		a.approveLogin(ctx)
	}
	return r, err
}

// Messages of git and ssh. They are in English because LC_ALL is C.
var (
	hostKeyRE = lazyregexp.New(
		`Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|No .* host key is known for`)
	loginRE = lazyregexp.New(
		`(?i)Authentication failed|could not read Username|could not read Password|terminal prompts disabled|` +
			`returned error: 40[13]|HTTP Basic: Access denied|Permission denied|Permission to .* denied|Repository not found|Could not read from remote repository|` +
			`not have permission|access rights|Too many authentication failures`)
	scopeRE   = lazyregexp.New("(?i)refusing to allow .*(scope|permission)")
	certRE    = lazyregexp.New(`(?i)certificate|SSL.*problem|server verification failed`)
	offlineRE = lazyregexp.New(
		`(?i)Could not resolve host|Failed to connect|Connection refused|timed out|Connection reset|No route to host|` +
			`Network is unreachable|early EOF|hung up unexpectedly|returned error: 5\d\d|Connection closed`)
	unreachableRE = lazyregexp.New(
		`(?i)Could not resolve host|Failed to connect|connect to host|Connection refused|No route to host|` +
			`Network is unreachable`)
)

// IsUnreachable reports whether a call at a remote failed because its host could not be resolved or connected to.
func IsUnreachable(err error) bool {
	var fault *company.Error
	return errors.As(err, &fault) && fault.Code == company.EGit && unreachableRE.MatchString(fault.Why)
}

// explainFailure converts a failed call at the remote to an error with cause and fix.
func (a *remoteEndpoint) explainFailure(ctx context.Context, doing string, r result) error {
	where := a.host
	where = cmp.Or(where, strings.TrimPrefix(a.url, "file://"))
	said := r.failureReason()
	switch {
	case a.asked != nil:
		return a.asked
	case a.host == "":
		return company.E(company.EGit, fmt.Sprintf("the remote %s could not be %s", where, doing)).Because(said).
			Fix("check that it exists and that you may read it: git remote -v")
	case hostKeyRE.MatchString(r.stderr):
		if a.ssh != nil {
			return a.ownHostKeyRefused(ctx, r)
		}
		return a.hostKeyRefused(ctx)
	case scopeRE.MatchString(r.stderr):
		return authError(where + " does not let this credential do that").Because(firstMatch(scopeRE, r.stderr)).
			Fix("give it the named permission, or remove such files from the work; then approve to try again")
	case certRE.MatchString(r.stderr):
		return company.E(company.EGit, "the certificate of "+where+" is not trusted").Because(said).
			Fix("export SSL_CERT_FILE=<file of the authority that signed it>").NeedsPerson()
	case offlineRE.MatchString(r.stderr) && !strings.Contains(r.stderr, "Permission denied"):
		fault := company.E(company.EGit, where+" could not be "+doing).Because(said).Fix("check the network and try again")
		fault.Class = company.Recoverable
		return fault
	case loginRE.MatchString(r.stderr):
		return authError(fmt.Sprintf("%s refused the %s", where, a.credentialName())).Because(said).Fix(a.refusedFix())
	}
	return company.E(company.EGit, where+" could not be "+doing).Because(said)
}

// credentialName describes the credential that was sent to the remote.
func (a *remoteEndpoint) credentialName() string {
	switch {
	case a.given.Source != "":
		return "login of " + a.given.Source
	case a.ssh != nil:
		return "keys of your own ssh"
	case a.s.cfg.Method == ByDeployKey:
		return "deploy key"
	case a.s.cfg.Method == ByAgent:
		return "keys of the ssh agent"
	}
	return "credential"
}

// refusedFix returns the fix for a refused login.
func (a *remoteEndpoint) refusedFix() string {
	switch {
	case a.given.Source != "":
		return "see that your own git may push there: git push --dry-run"
	case a.ssh != nil:
		return "see that your own ssh logs in there: " + a.sshByHand() +
			"; a key with a passphrase has to be in the agent: ssh-add"
	case a.protocols == "ssh" && a.s.cfg.Method == ByDeployKey:
		return "add the key's public half to the repository, with write access: ssh-keygen -y -f " + a.s.cfg.DeployKey
	case a.protocols == "ssh":
		return "ssh-add a key that may write there: ssh-add -l lists what the agent has"
	}
	return "give a token that may read and write the repository. " + a.s.howToLogin(a.url)
}

func firstMatch(re *lazyregexp.Regexp, text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if re.MatchString(line) {
			return Mask(strings.TrimSpace(line))
		}
	}
	return ""
}

// operatorVariables are the operator's variables that git gets, only when it uses the network: proxies and
// certificates.
var operatorVariables = []string{
	"http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
}

// OperatorEnv returns the variables of an environment that git gets when it uses the network.
func OperatorEnv(lookup func(string) (string, bool)) []string {
	var out []string
	has := map[string]bool{}
	for _, name := range operatorVariables {
		if v, ok := lookup(name); ok && v != "" {
			has[name] = true
			out = append(out, name+"="+v)
		}
	}
	// Other programs read these names; git reads different ones.
	for ours, gits := range map[string]string{"SSL_CERT_FILE": "GIT_SSL_CAINFO", "SSL_CERT_DIR": "GIT_SSL_CAPATH"} {
		if v, _ := lookup(ours); has[ours] && !has[gits] {
			out = append(out, gits+"="+v)
		}
	}
	return out
}
