package forge

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Driver describes one kind of forge. Nothing outside of its package names the kind.
type Driver struct {
	Kind string // value of forge.kind: github
	Name string // for people: GitHub
	Open func(Options) (Forge, error)

	// Home is the address of the kind's public forge. It is empty if there is none.
	Home string
	// OtherHosts are other names of the public forge's host, such as ssh.github.com. TenantSuffix is the end of the
	// host names that its tenants have, such as .ghe.com.
	OtherHosts   []string
	TenantSuffix string
	// APIPath is the path of the API's address, which people enter in place of the forge's own.
	APIPath string

	// User is the user name that git sends with a token.
	User string
	// TokenPermissions names the required permissions of a token, as on the forge's own page for creating one.
	TokenPermissions string
	// TokenEnvs are the variables that the kind's own tools read for its public forge. OtherTokenEnvs are those for
	// other forges.
	TokenEnvs, OtherTokenEnvs []string
	// StoredToken returns a token that the kind's own tool has stored, or "". Nil means that there is no such tool.
	// LoginCommand is that tool's command to log in, to which the host is appended.
	StoredToken  func(ctx context.Context, tool Tool) string
	StoredBy     string // name of the tool
	LoginCommand string
	// HasApps reports whether the company can log in as an App.
	HasApps bool

	// Webhook says how the kind's webhooks are recognised.
	Webhook Webhook
	// OpenByHand returns the command with which a person opens a pull request. Nil means that it is unknown.
	OpenByHand func(repo Repo, pr ByHand) string
}

// Tool is what a driver may use to find the login of its kind's own tool.
type Tool struct {
	Env     func(name string) string
	Address *url.URL // of the forge
}

// ByHand is a pull request for a person to open.
type ByHand struct {
	Base, Branch, Title string
	BodyFile            string // path of the text
}

// Webhook has the names of a kind's headers.
type Webhook struct {
	Event, Delivery []string // headers with the event's name and with the delivery's id
	// Sign returns the hexadecimal HMAC-SHA256 of the body that a call carries.
	Sign func(http.Header) string
}

// homeHost returns the host of the kind's public forge, or "".
func (d Driver) homeHost() string {
	home, err := url.Parse(d.Home)
	if err != nil {
		return ""
	}
	return home.Hostname()
}

// ServesHost reports whether a host belongs to the kind's public forge.
func (d Driver) ServesHost(host string) bool {
	return d.Home != "" && host == d.homeHost() || slices.Contains(d.OtherHosts, host) || d.TenantSuffix != "" &&
		strings.HasSuffix(host, d.TenantSuffix)
}
