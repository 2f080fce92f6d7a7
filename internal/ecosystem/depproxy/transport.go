package depproxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"company/internal/ecosystem"
)

const (
	dialTimeout  = 10 * time.Second
	maxRedirects = 5
)

// errPrivateAddress means that a registry's metadata, a redirect or a name server leads to an address outside of the
// public network.
var errPrivateAddress = errors.New("the address is not public")

// transport restricts where requests may go. Requests to the operator's own registries may go anywhere, with their
// credentials. All other requests must use https, have no credentials and go to public addresses only.
type transport struct {
	registries map[place]*http.Transport
	direct     *http.Transport                 // dials itself and checks the address
	viaProxy   *http.Transport                 // uses the operator's proxy, which may have a private address
	auth       map[string][]ecosystem.Endpoint // by kind
	outages    *outages
}

// place is one of the operator's registries of a kind, identified by scheme://host:port. For other kinds of
// registries, the same host counts as foreign.
type place struct{ kind, origin string }

type kindKey struct{}

// withKind sets the kind of registry for which requests are made.
func withKind(ctx context.Context, kind string) context.Context {
	return context.WithValue(ctx, kindKey{}, kind)
}

func newTransport(up Upstreams) (*transport, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, file := range up.CAs {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read trusted certificates: %w", err)
		}
		pool.AppendCertsFromPEM(text)
	}
	make1 := func(proxy func(*http.Request) (*url.URL, error), d *net.Dialer) *http.Transport {
		return &http.Transport{
			Proxy: proxy, DialContext: d.DialContext, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: true, TLSHandshakeTimeout: min(dialTimeout, up.patience()), ResponseHeaderTimeout: up.patience(),
			MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
			// Bodies are stored uncompressed, because digests are of the plain content.
			DisableCompression: false,
		}
	}
	t := &transport{registries: map[place]*http.Transport{}, auth: map[string][]ecosystem.Endpoint{},
		outages: newOutages(min(resendPause, up.patience()))}
	for kind, endpoint := range up.allEndpoints() {
		if endpoint.URL == "" {
			continue
		}
		address, err := url.Parse(endpoint.URL)
		if err != nil {
			return nil, err
		}
		proxy := http.ProxyFromEnvironment
		if endpoint.Proxy != "" {
			p, err := url.Parse(endpoint.Proxy)
			if err != nil {
				return nil, fmt.Errorf("invalid proxy of %s", endpoint)
			}
			proxy = http.ProxyURL(p)
		}
		if at := (place{kind, originOf(address)}); t.registries[at] == nil {
			t.registries[at] = make1(proxy, &net.Dialer{Timeout: dialTimeout})
		}
		if needsLogin(endpoint) {
			t.auth[kind] = append(t.auth[kind], endpoint)
		}
	}
	t.direct = make1(nil, &net.Dialer{Timeout: dialTimeout, ControlContext: t.checkAddress})
	t.viaProxy = make1(http.ProxyFromEnvironment, &net.Dialer{Timeout: dialTimeout})
	return t, nil
}

// checkAddress checks the resolved address just before it is dialed. A second answer of a name server therefore
// cannot bypass the check.
func (t *transport) checkAddress(_ context.Context, _, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", errPrivateAddress, address)
	}
	if !isPublic(addr.Addr()) {
		return fmt.Errorf("%w: %s", errPrivateAddress, addr.Addr())
	}
	return nil
}

// originOf returns the scheme, host and port of an address.
func originOf(address *url.URL) string {
	port := address.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[address.Scheme]
	}
	return address.Scheme + "://" + net.JoinHostPort(strings.ToLower(address.Hostname()), port)
}

// RoundTrip sends one request. It is called for each hop of a redirect.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	r.Header.Del("Referer")
	r.Header.Del("Cookie")
	kind, _ := r.Context().Value(kindKey{}).(string)
	own := t.registries[place{kind, originOf(r.URL)}]
	if own == nil {
		if err := t.checkForeignURL(r.URL); err != nil {
			return nil, err
		}
		if p, err := http.ProxyFromEnvironment(r); err == nil && p != nil {
			return t.outages.sendWithRetry(t.viaProxy, r)
		}
		return t.outages.sendWithRetry(t.direct, r)
	}
	longest := -1
	for _, endpoint := range t.auth[kind] {
		base, err := url.Parse(endpoint.URL)
		if err != nil || originOf(base) != originOf(r.URL) {
			continue
		}
		header, wholeHost := endpoint.Auth()
		if wholeHost {
			base.Path = ""
		}
		if len(base.Path) <= longest {
			continue
		}
		if r.URL.Path == base.Path || strings.HasPrefix(r.URL.Path, strings.TrimRight(base.Path, "/")+"/") {
			longest = len(base.Path)
			r.Header.Set("Authorization", header)
		}
	}
	return t.outages.sendWithRetry(own, r)
}

// checkForeignURL returns an error if an address outside of the operator's registries breaks a rule. Behind a proxy,
// no address is dialed here, so it checks the names that can be judged without resolving.
func (t *transport) checkForeignURL(address *url.URL) error {
	host := strings.TrimSuffix(strings.ToLower(address.Hostname()), ".")
	switch addr, err := netip.ParseAddr(host); {
	case address.Scheme != "https":
		return fmt.Errorf("%.200s does not use https", address.Redacted())
	case address.User != nil:
		return fmt.Errorf("the URL of a file has a user")
	case address.Port() != "" && address.Port() != "443":
		return fmt.Errorf("%.200s is not on port 443", address.Redacted())
	case err == nil && !isPublic(addr):
		return fmt.Errorf("%w: %s", errPrivateAddress, host)
	case err != nil && (!strings.Contains(host, ".") || looksNumeric(host) || host == "localhost" ||
		strings.HasSuffix(host, ".localhost") ||
		strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".home.arpa")):
		return fmt.Errorf("%w: %.100s", errPrivateAddress, host)
	}
	return nil
}

// looksNumeric reports whether a host may be a numeric address in an unusual form, such as 127.1 or 0x7f.0.0.1. A
// proxy's resolver could accept it. No public host name has a last label that begins with a digit.
func looksNumeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last == "" || last[0] >= '0' && last[0] <= '9'
}

func (t *transport) close() {
	for _, o := range t.registries {
		o.CloseIdleConnections()
	}
	t.direct.CloseIdleConnections()
	t.viaProxy.CloseIdleConnections()
}

// Ranges that look like global unicast addresses but are not public.
var privateRanges = func() (out []netip.Prefix) {
	for _, s := range []string{
		// this net, CGNAT, protocol, benchmark, reserved
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4",
		// NAT64, Teredo and others, 6to4, discard, site-local, v4-compatible
		"64:ff9b::/96", "64:ff9b:1::/48", "2001::/23", "2002::/16", "100::/64", "fec0::/10", "::/96",
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}()

// isPublic reports whether an address belongs to the public network.
func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, p := range privateRanges {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
