package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/lib/safetext"
)

// A player is a program that plays the part of a model. It reads requests from standard input and writes replies to
// standard output, one JSON object per line. The bench serves it with a vendor's protocol, counts usage, and waits as
// long as a model would take.

// playerProfile is the model profile of a player, with prices in USD per million tokens.
const (
	playerProfile = "bench-player"

	playerInputPrice  = 3.0
	playerCachedPrice = 0.3
	playerOutputPrice = 15.0
)

// A player's reply takes playerFirst, plus a second for every playerTokensPerS tokens.
const (
	playerFirst      = 1500 * time.Millisecond
	playerTokensPerS = 60
)

// playerOutput is the largest reply in tokens: that of a current large model.
const playerOutput = 64_000

// factsFile is the file of a case that a player reads.
const factsFile = "facts.json"

// playerMessage, playerTool and playerCall are the parts of a request that a player sees.
type playerMessage struct {
	Role    string       `json:"role"`
	Content string       `json:"content"`
	Calls   []playerCall `json:"calls,omitempty"`
}

type playerTool struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

type playerCall struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

type playerRequest struct {
	Messages []playerMessage `json:"messages"`
	Tools    []playerTool    `json:"tools"`
}

type playerReply struct {
	Text  string       `json:"text"`
	Calls []playerCall `json:"calls"`
}

// player is the process of a player.
type player struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	said *tail
	// instant means that replies have no delay.
	instant bool

	mu  sync.Mutex // one request at a time
	out *bufio.Reader
}

// startPlayer starts a player for the cases of a folder. command is the program with its arguments. The seed and the
// folders of the cases are appended.
func startPlayer(ctx context.Context, command string, seed int, cases []Case) (*player, error) {
	args := strings.Fields(command)
	if len(args) == 0 {
		return nil, company.E(company.EUsage, "-player names no program").
			Fix("go build -C test/player -o ../../player ., then -player ./player")
	}
	args = append(args, "-seed", strconv.Itoa(seed))
	known := 0
	for _, c := range cases {
		if isFile(filepath.Join(c.Dir, factsFile)) {
			args, known = append(args, c.Dir), known+1
		}
	}
	if known == 0 {
		return nil, company.E(company.EInvalid, "no case has a "+factsFile).Because("a player knows a case by it").
			Fix("choose cases that have one, with -case")
	}
	p := &player{cmd: exec.CommandContext(ctx, args[0], args[1:]...), said: &tail{}}
	gitexec.SeparateGroup(p.cmd)
	p.cmd.Stderr, p.cmd.Env = p.said, os.Environ()
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, company.E(company.EConfig, "the player cannot be started").Wrap(err).
			Fix("go build -C test/player -o ../../player ., then -player ./player")
	}
	return p, nil
}

// close ends the player.
func (p *player) close() error {
	err := errors.Join(p.in.Close(), p.cmd.Wait())
	if err != nil {
		err = company.E(company.EInternal, "the player failed").Because(safetext.Escape(p.said.lastError())).Wrap(err)
	}
	return err
}

// reply asks the player. The role is not sent.
func (p *player) reply(exchange scripted.Exchange) scripted.Reply {
	request := playerRequest{}
	for _, message := range exchange.Messages {
		out := playerMessage{Role: string(message.Role), Content: message.Content}
		for _, toolCall := range message.ToolCalls {
			args := json.RawMessage(toolCall.Arguments)
			if !json.Valid(args) {
				args = json.RawMessage("{}")
			}
			out.Calls = append(out.Calls, playerCall{toolCall.Name, args})
		}
		request.Messages = append(request.Messages, out)
	}
	for _, t := range exchange.Tools {
		request.Tools = append(request.Tools, playerTool{t.Name, t.Schema})
	}
	said, err := p.ask(request)
	if err != nil {
		return scripted.Reply{Err: "the player does not answer: " + err.Error()}
	}
	reply := scripted.Reply{Text: said.Text}
	tokens := tokensOf(said.Text)
	for _, c := range said.Calls {
		reply.Calls = append(reply.Calls, scripted.Call{Tool: c.Tool, Raw: string(c.Args)})
		tokens += tokensOf(c.Tool) + len(c.Args)/4
	}
	if !p.instant {
		reply.Delay, reply.Writing = playerFirst, time.Duration(tokens)*time.Second/playerTokensPerS
	}
	return reply
}

// ask sends a request to the process and reads its reply.
func (p *player) ask(q playerRequest) (r playerReply, err error) {
	text, err := json.Marshal(q)
	if err != nil {
		return r, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.in.Write(append(text, '\n')); err != nil {
		return r, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("%w: %s", err, p.said.lastError())
	}
	return r, json.Unmarshal(line, &r)
}

// servePlayer starts a player and a server in front of it. stop ends both.
func servePlayer(
	ctx context.Context, command string, seed int, instant bool, cases []Case,
) (models map[string]any, stop func() error, err error) {
	player, err := startPlayer(ctx, command, seed, cases)
	if err != nil {
		return nil, nil, err
	}
	player.instant = instant
	server, err := scripted.NewServer(newCountingModel(player.reply)) //nolint:contextcheck // stop ends it
	if err != nil {
		return nil, nil, errors.Join(err, player.close())
	}
	type m = map[string]any
	models = m{playerProfile: m{
		"adapter": "openai", "model": "player", "base_url": server.URL(), "max_output": playerOutput,
		"price": m{"input": playerInputPrice, "cached": playerCachedPrice, "output": playerOutputPrice},
	}}
	//nolint:contextcheck // it is called when ctx has ended, too
	stop = func() error { return errors.Join(server.Close(), player.close()) }
	return models, stop, nil
}
