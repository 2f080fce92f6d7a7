package service

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
)

var (
	// refusedRE matches a client's message that no server listens at a port.
	refusedRE = lazyregexp.New(
		`(?i)(connection refused|ECONNREFUSED|can't connect to|could not connect|connection to \S+ refused|connection to server at .* failed: (network is unreachable|no route))`)
	// unknownHostRE matches a client's message that a host name is unknown.
	unknownHostRE = lazyregexp.New(
		`(?i)(ENOTFOUND|EAI_AGAIN|no such host|could not translate host name|name or service not known|temporary failure in name resolution|unknown host|UnknownHostException|getaddrinfo failed|nodename nor servname)`)
	wordRE = lazyregexp.New(`[A-Za-z0-9_-]+`)
)

// FindMissing returns the services that a check tried to reach in vain, according to its output. It
// recognizes them by their ports and their usual host names. It omits a service that was started and
// has ended.
func FindMissing(output string) []string {
	var out []string
	for line := range strings.Lines(output) {
		refused, unknown := refusedRE.MatchString(line), unknownHostRE.MatchString(line)
		if !refused && !unknown {
			continue
		}
		for _, server := range servers {
			looked := refused && server.portRE().MatchString(line) ||
				unknown && slices.ContainsFunc(
					wordRE.FindAllString(line, -1), func(word string) bool {
						return slices.Contains(server.hosts, word) && word != "db"
					})
			if looked && !slices.Contains(out, server.name) && Ended(output) != server.name {
				out = append(out, server.name)
			}
		}
	}
	return out
}

func (s server) portRE() *regexp.Regexp { return regexp.MustCompile(fmt.Sprintf(`\b%d\b`, s.port)) }

// ExplainOutput returns a text to append to the output of a failed check, or "". The text names the
// missing service and the setting that starts it.
func ExplainOutput(output string) string {
	missing := FindMissing(output)
	if len(missing) == 0 {
		return ""
	}
	server, _ := findServer(missing[0])
	return fmt.Sprintf("\n[nothing serves at port %d in here; gates.services: [%s] starts %s beside checks and workers]\n",
		server.port, server.name, server.title)
}
