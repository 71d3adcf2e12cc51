"""A LangChain agent that remembers and recalls through a server of MCP; run as a program.

langchain-mcp-adapters needs mcp 1, our server mcp 2: they never share an environment. So this is a
program of its own, which reads its server from standard input and prints what the agent said.
"""

import asyncio
import json
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_mcp_adapters.client import MultiServerMCPClient


class Scripted(GenericFakeChatModel):
    """A model with tools that says what the test has written."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> "Scripted":
        return self


async def main(server: dict[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
    tools = await MultiServerMCPClient({"memory": server}).get_tools()
    replies = [
        *(
            AIMessage("", tool_calls=[{**call, "id": str(number)}])
            for number, call in enumerate(calls)
        ),
        AIMessage("Done."),
    ]
    agent = create_agent(Scripted(messages=iter(replies)), tools)
    done = await agent.ainvoke({"messages": [("user", "Who is my sister?")]})
    return {
        "tools": [tool.name for tool in tools],
        "results": [message.text for message in done["messages"] if message.type == "tool"],
        "answer": done["messages"][-1].text,
    }


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    sys.stdout.write(json.dumps(asyncio.run(main(asked["server"], asked["calls"]))))
