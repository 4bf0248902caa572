"""
A conversation that goes on in the next process: repeats what it was told. A script stands for the model, so that this
runs without one.
"""

from __future__ import annotations

import sys

from agents import Agent, Runner, set_tracing_disabled
from agents.items import TResponseOutputItem
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message

from openai_agents_sensorium import SensoriumSession

set_tracing_disabled(True)


def reply(call: ModelCall) -> list[TResponseOutputItem]:
    told = [item["content"] for item in call.input if item.get("role") == "user"]
    return [assistant_message("You said: " + " ".join(told))]


agent = Agent(name="listener", model=ScriptedModel([ModelStep.respond(reply)]))
result = Runner.run_sync(agent, sys.argv[1], session=SensoriumSession("conversation-1"))
print(result.final_output)
