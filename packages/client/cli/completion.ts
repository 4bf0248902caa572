import { type Command, word } from "./command.ts";
import { UsageError } from "./usage.ts";

/** Each script asks `sensorium __complete WORDS…` for what may follow, one per line. */
const SCRIPTS: Record<string, string> = {
  bash: `_sensorium() {
  local IFS=$'\\n'
  COMPREPLY=($(sensorium __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _sensorium sensorium
`,
  zsh: `#compdef sensorium
_sensorium() {
  local -a found
  found=("\${(@f)$(sensorium __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _sensorium sensorium
`,
  fish: `function __sensorium_complete
  set -l typed (commandline -opc) (commandline -ct)
  set -l found (sensorium __complete $typed[2..-1] 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c sensorium -f -a '(__sensorium_complete)'
`,
};
export const SHELLS = Object.keys(SCRIPTS);

export const completion: Command = {
  takes: "SHELL",
  does: `Prints a script that completes commands and options in a shell: ${SHELLS.join(", ")}.`,
  examples: [
    'completion bash  # in ~/.bashrc: eval "$(sensorium completion bash)"',
    "completion fish > ~/.config/fish/completions/sensorium.fish",
  ],
  open: true,
  async run(context) {
    const shell = word(context, 0, "SHELL");
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (!script) throw new UsageError(`SHELL is ${shell}: expected ${SHELLS.join(", ")}.`);
    context.print({ shell, script }, script.trimEnd());
  },
};
