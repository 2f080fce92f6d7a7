package config

import (
	"net"
	"net/url"
	"slices"
	"strconv"
)

// notifyWays are the allowed values of notify.by.
var notifyWays = []string{"bell", "desktop", "webhook"}

// validateWebhook checks the webhook of notices. Its posts describe the work, so they must be signed, and encrypted
// over the network.
func (n Notify) validateWebhook(at func(key string) string) (ps []problem) {
	if !slices.Contains(n.By, "webhook") {
		return nil
	}
	switch address, err := url.Parse(n.WebhookURL); {
	case n.WebhookURL == "":
		ps = append(ps, problem{at: at("notify.by"), key: "notify.by", what: "has webhook, and notify.webhook_url is not " +
			"set", fix: "set notify.webhook_url to the address that takes the posts"})
	case err == nil && address.Scheme == "http" && !isLoopback(address.Hostname()):
		ps = append(
			ps, problem{at: at("notify.webhook_url"), key: "notify.webhook_url", what: "is not encrypted",
				found: shortenText(strconv.Quote(n.WebhookURL)), fix: "allowed: https, or http on this machine"})
	}
	if n.WebhookEnv == "" {
		ps = append(ps, problem{at: at("notify.by"), key: "notify.by", what: "has webhook, and notify.webhook_secret_env " +
			"is not set", fix: "name the variable that holds the secret: the posts are signed with it"})
	}
	return ps
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
