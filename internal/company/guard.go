package company

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
)

// Guard calls do and returns its error. A panic becomes an EInternal error that names what and has the stack in its
// Details. A panic in an effect is therefore a failed attempt and does not end the company. Every goroutine that
// carries out a part of an effect must use a Guard. A recover in the goroutine that started it does not catch the
// panic.
func Guard(what string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			fault := E(EInternal, fmt.Sprintf("%s panicked: %v", what, p)).Fix("report it, with the stack from the office's log")
			fault.Details = string(debug.Stack())
			err = fault
		}
	}()
	return do()
}

// CheckParts checks that structs, or pointers to structs, were assembled completely. It returns an error that names
// each nil exported pointer, interface, function and map field. The tag part:"optional" allows nil.
func CheckParts(parts ...any) error {
	var missing []string
	for _, p := range parts {
		v := reflect.Indirect(reflect.ValueOf(p))
		for i := range v.NumField() {
			field, value := v.Type().Field(i), v.Field(i)
			if value.Kind() == reflect.Interface && !value.IsNil() {
				value = value.Elem()
			}
			switch value.Kind() {
			case reflect.Pointer, reflect.Interface, reflect.Func, reflect.Map:
				if value.IsNil() && field.IsExported() && field.Tag.Get("part") != "optional" {
					missing = append(missing, v.Type().String()+"."+field.Name)
				}
			}
		}
	}
	if missing == nil {
		return nil
	}
	return E(EInternal, "the program was built without "+strings.Join(missing, ", "))
}
