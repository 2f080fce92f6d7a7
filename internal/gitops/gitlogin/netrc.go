package gitlogin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"company/internal/company"
	"company/internal/lib/secret"
)

// maxNetrc limits the size of the file, in bytes.
const maxNetrc = 1 << 20

// findNetrc searches for a server in ~/.netrc, as curl does for git. If the file has a login for the server and
// others can read or write it, findNetrc fails.
func (l *Logins) findNetrc(server Server) (Login, error) {
	path := filepath.Join(l.home, ".netrc")
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Login{}, nil
	}
	refused := company.E(company.EAuth, "~/.netrc cannot be used").NeedsPerson()
	if err != nil {
		return Login{}, refused.Wrap(err).Fix("make it yours: chown and chmod 600 " + path)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxNetrc {
		return Login{}, refused.Because("it is not a regular file, or is too large").Fix("see " + path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxNetrc))
	if err != nil {
		return Login{}, refused.Wrap(err).Fix("see " + path)
	}
	host := server.Host
	if name, _, err := net.SplitHostPort(server.Host); err == nil {
		host = name // a netrc contains no ports
	}
	login, ok := searchNetrc(string(text), strings.Trim(host, "[]"), server.User)
	if !ok {
		return Login{}, nil
	}
	st, known := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Perm()&0o077 != 0:
		return Login{}, refused.Because(fmt.Sprintf("others can read it (mode %04o)", info.Mode().Perm())).
			Fix("chmod 600 " + path)
	case known && int(st.Uid) != os.Geteuid():
		return Login{}, refused.Because(fmt.Sprintf("it belongs to user %d", st.Uid)).Fix("use your own file")
	}
	return login, nil
}

// searchNetrc returns the entry of a host, and of a user if one is given, or else the default entry.
func searchNetrc(text, host, user string) (Login, bool) {
	words := netrcWords(text)
	var entry Login
	matches := false
	good := func() bool { return matches && entry.Secret.Set() && (user == "" || entry.User == user) }
	for i := 0; i < len(words); i++ {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch words[i] {
		case "machine", "default":
			if good() {
				return entry, true
			}
			entry, matches = Login{Source: "~/.netrc", User: user}, words[i] == "default" || strings.EqualFold(next, host)
			if words[i] == "machine" {
				i++
			}
		case "login":
			entry.User, i = next, i+1
		case "password":
			entry.Secret, i = secret.New(next), i+1
		case "account":
			i++
		}
	}
	return entry, good()
}

// netrcWords splits a netrc: words between blanks, or between double quotes with a
// backslash before a quote. Comments and macros, which end at an empty line, are
// left out.
func netrcWords(text string) (words []string) {
	macro := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if macro {
			macro = line != ""
			continue
		}
		for line != "" && line[0] != '#' {
			var word string
			word, line = cutNetrcWord(line)
			if word == "macdef" {
				macro = true
				break
			}
			words = append(words, word)
		}
	}
	return words
}

// cutNetrcWord cuts the first word off a line that begins with one.
func cutNetrcWord(line string) (word, rest string) {
	if line[0] != '"' {
		if end := strings.IndexAny(line, " \t"); end >= 0 {
			return line[:end], strings.TrimLeft(line[end:], " \t")
		}
		return line, ""
	}
	var b strings.Builder
	for i := 1; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
		case c == '"':
			return b.String(), strings.TrimLeft(line[i+1:], " \t")
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
