package toolserver

import (
	"mvdan.cc/sh/v3/syntax"

	"company/internal/lib/boundedparse/bash"
	"company/internal/lib/lazyregexp"
)

// timeoutNote returns advice for a command that was killed at its timeout.
func timeoutNote(command string) string {
	if callsSleep(command) {
		return "the command slept: wait less, give a larger timeout_s (at most 900), or run it in the background and look " +
			"at it with check_process"
	}
	return "the command may have waited for input; stdin is closed. One that needs longer takes a larger timeout_s (at " +
		"most 900) or background"
}

// callsSleep reports whether a script itself calls sleep.
func callsSleep(command string) bool {
	file, err := bash.Parse(command)
	if err != nil {
		return false
	}
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 && wordText(call.Args[0]) == "sleep" {
			found = true
		}
		return !found
	})
	return found
}

// noNetworkRE matches the output of programs that tried to use a network, and of shells that lack such a program.
var noNetworkRE = lazyregexp.New(
	`(?i)could not resolve host|temporary failure (?:in name resolution|resolving)|name or service not known|network is unreachable|` +
		`getaddrinfo (?:eai_again|enotfound)|no such host|module lookup disabled by goproxy=off|failed to (?:lookup|resolve) (?:address|host)|unable to resolve host address|` +
		`\b(?:curl|wget|ping|dig|nslookup|telnet|apt|apt-get|apk|yum|dnf|brew|sudo): (?:command )?not found`)

// noNetworkNote returns a note about the missing network if the output of a failed command shows that it tried to use
// one. Otherwise it returns "".
func noNetworkNote(output string) string {
	if !noNetworkRE.MatchString(output) {
		return ""
	}
	return "there is no network here, and no other try will reach one. Packages that the lock files name come from " +
		"mirrors; a new one is asked for with add_dependency"
}
