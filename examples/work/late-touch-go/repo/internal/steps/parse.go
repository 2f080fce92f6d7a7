package steps

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Parse reads steps, with a bar between two of them. What is wrong is a *Fault.
func Parse(text string) ([]Step, error) {
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	var steps []Step
	for {
		step, err := p.parseStep()
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
		if p.next().kind == end {
			return steps, nil
		}
		if !p.takesSign("|") {
			return nil, p.fault("a bar or the end")
		}
	}
}

// Show writes steps as Parse reads them.
func Show(steps []Step) string {
	var out []string
	for _, step := range steps {
		out = append(out, step.String())
	}
	return strings.Join(out, " | ")
}

type parser struct {
	tokens []token
}

// next is the token that comes next. The end is never taken.
func (p *parser) next() token { return p.tokens[0] }

func (p *parser) take() token {
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

// fault says that something else is expected in the place of the next token.
func (p *parser) fault(expected string) error {
	return &Fault{p.next().column, fmt.Sprintf("expected %s, found %v", expected, p.next())}
}

// takesSign takes a sign, if it comes next.
func (p *parser) takesSign(text string) bool {
	if t := p.next(); t.kind != sign || t.text != text {
		return false
	}
	p.take()
	return true
}

// takesWord takes a word without quotes, if it comes next.
func (p *parser) takesWord(text string) bool {
	if t := p.next(); t.kind != word || t.text != text {
		return false
	}
	p.take()
	return true
}

// keyword takes one of these words.
func (p *parser) keyword(words ...string) (string, error) {
	if t := p.next(); t.kind != word || !slices.Contains(words, t.text) {
		return "", p.fault(strings.Join(words, ", "))
	}
	return p.take().text, nil
}

// value takes a word or a text in quotes.
func (p *parser) value() (token, error) {
	if t := p.next(); t.kind != word && t.kind != quoted {
		return token{}, p.fault("a value")
	}
	return p.take(), nil
}

// field takes the name of a field, which is never empty.
func (p *parser) field() (token, error) {
	if t := p.next(); t.kind != word && t.kind != quoted || t.text == "" {
		return token{}, p.fault("a field")
	}
	return p.take(), nil
}

func (p *parser) parseStep() (Step, error) {
	name, err := p.keyword("where", "keep", "sort", "count", "first")
	if err != nil {
		return nil, err
	}
	switch name {
	case "where":
		return p.parseWhere()
	case "keep":
		return p.parseKeep()
	case "sort":
		return p.parseSort()
	case "count":
		return p.parseCount()
	default:
		return p.parseFirst()
	}
}

func (p *parser) parseWhere() (Step, error) {
	field, err := p.field()
	if err != nil {
		return nil, err
	}
	sign, err := p.keyword("is", "over", "under")
	if err != nil {
		return nil, err
	}
	value, err := p.value()
	if err != nil {
		return nil, err
	}
	return Where{Field: field.text, Sign: sign, Value: value.text}, nil
}

func (p *parser) parseKeep() (Step, error) {
	var keep Keep
	for {
		field, err := p.field()
		if err != nil {
			return nil, err
		}
		if slices.Contains(keep.Fields, field.text) {
			return nil, &Fault{field.column, fmt.Sprintf("the field %v is kept twice", field)}
		}
		keep.Fields = append(keep.Fields, field.text)
		if !p.takesSign(",") {
			return keep, nil
		}
	}
}

func (p *parser) parseSort() (Step, error) {
	field, err := p.field()
	if err != nil {
		return nil, err
	}
	return Sort{Field: field.text, Down: p.takesWord("down")}, nil
}

func (p *parser) parseCount() (Step, error) {
	field, err := p.field()
	if err != nil {
		return nil, err
	}
	return Count{Field: field.text}, nil
}

func (p *parser) parseFirst() (Step, error) {
	number, err := strconv.Atoi(p.next().text)
	if err != nil || number < 1 || p.next().kind != word {
		return nil, p.fault("a number from 1 on")
	}
	p.take()
	return First{Number: number}, nil
}
