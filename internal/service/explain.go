package service

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"company/internal/lazyregexp"
)

var (
	// refusedRE is a client's message that nothing serves at a port.
	refusedRE = lazyregexp.New(`(?i)(connection refused|ECONNREFUSED|can't connect to|could not connect|connection to \S+ refused|connection to server at .* failed: (network is unreachable|no route))`)
	// unknownHostRE is a client's message that a name of a host is not known.
	unknownHostRE = lazyregexp.New(`(?i)(ENOTFOUND|EAI_AGAIN|no such host|could not translate host name|name or service not known|temporary failure in name resolution|unknown host|UnknownHostException|getaddrinfo failed|nodename nor servname)`)
	wordRE        = lazyregexp.New(`[A-Za-z0-9_-]+`)
)

// FindMissing names the services that a check's output shows it looked for in vain: by
// their ports, or by the names of hosts that projects give them. A service that was
// started and has ended is none.
func FindMissing(output string) []string {
	var out []string
	for line := range strings.Lines(output) {
		refused, unknown := refusedRE.MatchString(line), unknownHostRE.MatchString(line)
		if !refused && !unknown {
			continue
		}
		for _, s := range servers {
			looked := refused && s.portRE().MatchString(line) ||
				unknown && slices.ContainsFunc(wordRE.FindAllString(line, -1), func(word string) bool { return slices.Contains(s.hosts, word) && word != "db" })
			if looked && !slices.Contains(out, s.name) && Ended(output) != s.name {
				out = append(out, s.name)
			}
		}
	}
	return out
}

func (s server) portRE() *regexp.Regexp { return regexp.MustCompile(fmt.Sprintf(`\b%d\b`, s.port)) }

// ExplainOutput is the text behind the output of a check that failed: which service it
// looked for where none was started, and the line that has it started.
func ExplainOutput(output string) string {
	missing := FindMissing(output)
	if len(missing) == 0 {
		return ""
	}
	s, _ := findServer(missing[0])
	return fmt.Sprintf("\n[nothing serves at port %d in here; gates.services: [%s] starts %s beside checks and workers]\n", s.port, s.name, s.title)
}
