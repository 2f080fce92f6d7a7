package cli

import (
	"fmt"
	"strconv"

	"example.com/shelf/internal/day"
	"example.com/shelf/internal/report"
	"example.com/shelf/internal/shelf"
)

var commands map[string]command

func init() {
	commands = map[string]command{
		"add":    {usage: "add OWNER TITLE", words: 2, changes: true, run: add},
		"remove": {usage: "remove ID", words: 1, changes: true, run: remove},
		"lend":   {usage: "lend ID NAME [--on DAY] [--weeks N]", words: 2, options: []string{"on", "weeks"}, changes: true, run: lend},
		"return": {usage: "return ID [--on DAY]", words: 1, options: []string{"on"}, changes: true, run: giveBack},
		"list":   {usage: "list", run: list},
		"late":   {usage: "late [--on DAY]", options: []string{"on"}, run: late},
	}
}

func add(s *shelf.Shelf, c call) (string, error) {
	id, err := s.Add(c.words[0], c.words[1])
	if err != nil {
		return "", err
	}
	return fmt.Sprintln(id), nil
}

func remove(s *shelf.Shelf, c call) (string, error) {
	id, err := readID(c.words[0])
	if err != nil {
		return "", err
	}
	return "", s.Remove(id)
}

func lend(s *shelf.Shelf, c call) (string, error) {
	id, err := readID(c.words[0])
	if err != nil {
		return "", err
	}
	on, err := c.on()
	if err != nil {
		return "", err
	}
	weeks := 4
	if text, given := c.options["weeks"]; given {
		if weeks, err = strconv.Atoi(text); err != nil {
			return "", fmt.Errorf("no weeks: %q", text)
		}
	}
	return "", s.Lend(id, c.words[1], on, weeks)
}

func giveBack(s *shelf.Shelf, c call) (string, error) {
	id, err := readID(c.words[0])
	if err != nil {
		return "", err
	}
	on, err := c.on()
	if err != nil {
		return "", err
	}
	return "", s.Return(id, on)
}

func list(s *shelf.Shelf, c call) (string, error) { return report.List(s), nil }

func late(s *shelf.Shelf, c call) (string, error) {
	on, err := c.on()
	if err != nil {
		return "", err
	}
	return report.Late(s, on), nil
}

// on gives the day that the options name, else today.
func (c call) on() (day.Day, error) {
	if text, given := c.options["on"]; given {
		return day.Parse(text)
	}
	return c.today, nil
}

func readID(text string) (int, error) {
	id, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("no number of an item: %q", text)
	}
	return id, nil
}
